import { type Chat, createChat, defaultContext, direct, type Runtime, remote, structured } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { openaiChat } from 'tidemark/openai-chat'
import { toolsOf } from '../tools.ts'
import type { PageConfig } from './config.ts'
import type { RuntimeName } from './route.ts'

const SYSTEM = 'You are a calm, precise assistant. Answer in Markdown, briefly where that is enough.'

/** Tokens. Nothing is known of the stand-in by its name, and something shall give way in a long conversation. */
const STAND_IN_WINDOW = 16_000

/** The two ways to get an answer. Behind the store they are the same. */
const RUNTIMES: Readonly<Record<RuntimeName, (config: PageConfig, chat: () => Chat) => Runtime>> = {
  remote: () => remote({ url: '/api' }),
  direct: ({ model, standIn }, chat) =>
    direct({
      model: openaiChat(model, { baseURL: '/llm/openai' }),
      system: SYSTEM,
      tools: toolsOf(chat),
      structured,
      context: defaultContext(standIn ? { window: STAND_IN_WINDOW } : {}),
    }),
}

/** A chat per runtime, each with its own database, opened at its first use and kept: a run goes on behind the other. */
export function openChats(config: PageConfig): (runtime: RuntimeName) => Chat {
  const open = new Map<RuntimeName, Chat>()
  return (runtime) => {
    const present = open.get(runtime)
    if (present) return present
    const chat: Chat = createChat({
      runtime: RUNTIMES[runtime](config, () => chat),
      storage: dexieStorage(`tidemark-demo-${runtime}`),
    })
    open.set(runtime, chat)
    return chat
  }
}
