import { type ChatSession, createChat, direct, type Message, remote, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { openaiChat } from 'tidemark/openai-chat'
import { chargingTools } from './kills-tools.ts'

/** What the page offers to the test that drives it. */
export interface KillsPage {
  ask(question: string): Promise<void>
  /** Lets what waits be done. */
  approve(): Promise<void>
  reject(): Promise<void>
  /** Calls that wait for that. */
  waiting(): number
  messages(): readonly Message[]
  /** Each message in a line. */
  shown(): string[]
}

declare global {
  interface Window {
    kills: KillsPage
  }
}

const query = new URLSearchParams(location.search)
const place = query.get('runtime') ?? ''
const tools = chargingTools(query.get('world') ?? '')
const model = openaiChat('scripted', { baseURL: '/llm' })
const chat = createChat({
  storage: dexieStorage(`kills-${place}`),
  runtime: place === 'direct' ? direct({ model, tools }) : remote({ url: location.origin }),
})
const session: ChatSession = chat.session(query.get('session') ?? '')

const lineOf = (message: Message): string =>
  message.role === 'tool' && message.stage
    ? `tool ${message.stage}`
    : `${message.role} ${message.status}: ${textOf(message)}`

/** Says something of every call that waits. */
async function each(say: (id: string) => Promise<void>): Promise<void> {
  await Promise.all(session.get().waiting.map(({ id }) => say(id)))
}

window.kills = {
  async ask(question) {
    await session.send(question)
  },
  approve: () => each((id) => session.approve(id)),
  reject: () => each((id) => session.reject(id)),
  waiting: () => session.get().waiting.length,
  messages: () => session.get().messages,
  shown: () => session.get().messages.map(lineOf),
}
