import { type Chat, createChat, direct, type Runtime, remote } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { openaiChat } from 'tidemark/openai-chat'
import { tools } from '../tools.ts'
import type { PageConfig } from './config.ts'
import type { RuntimeName } from './route.ts'

const SYSTEM = 'You are a calm, precise assistant. Answer in Markdown, briefly where that is enough.'

/** The two ways to get an answer. Behind the store they are the same. */
const RUNTIMES: Readonly<Record<RuntimeName, (config: PageConfig) => Runtime>> = {
  remote: () => remote({ url: '/api' }),
  direct: ({ model }) =>
    direct({ model: openaiChat(model, { baseURL: '/llm/openai' }), system: SYSTEM, tools }),
}

/** A chat per runtime, each with its own database, opened at its first use and kept: a run goes on behind the other. */
export function openChats(config: PageConfig): (runtime: RuntimeName) => Chat {
  const open = new Map<RuntimeName, Chat>()
  return (runtime) => {
    const chat =
      open.get(runtime) ??
      createChat({ runtime: RUNTIMES[runtime](config), storage: dexieStorage(`tidemark-demo-${runtime}`) })
    open.set(runtime, chat)
    return chat
  }
}
