import { type Chat, type ChatSession, createChat, type Message, remote, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { clockOf, watchAnswers } from './page-parts.ts'

/** What the page offers to the test that drives it: one chat after the other, without being loaded anew. */
export interface HostilePage {
  /** Closes the chat that was open, and opens another over a database that is nobody's yet. */
  open(name: string, speed: number): Promise<void>
  send(text: string): Promise<void>
  /** Looks again now, without waiting for it. */
  resync(): void
  messages(): readonly Message[]
  /** Each message as it is shown: its status, and its text. */
  shown(): string[]
  /** What must never be seen, and was. */
  wrong: string[]
  /** How often bytes came that begin inside a character. */
  torn: number
  /** Sent with the requests, each once, the last for ever. */
  tokens: string[]
}

declare global {
  interface Window {
    hostile: HostilePage
  }
}

let open: { chat: Chat; session: ChatSession } | undefined

function opened(): ChatSession {
  if (!open) throw new Error('nothing is open')
  return open.session
}

function headers(): Record<string, string> {
  const [token] = hostile.tokens.length > 1 ? hostile.tokens.splice(0, 1) : hostile.tokens
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** The platform's, except that it notes how bytes come. */
const noting: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.body) return response
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (((chunk[0] ?? 0) & 0xc0) === 0x80) hostile.torn++
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(through), response)
}

const hostile: HostilePage = {
  async open(name, speed) {
    await open?.chat.close()
    hostile.wrong = []
    hostile.tokens = []
    hostile.torn = 0
    const chat = createChat({
      storage: dexieStorage(name),
      runtime: remote({ url: `/api/${name}`, headers, fetch: noting }),
      env: clockOf(speed),
    })
    open = { chat, session: chat.session('s') }
    watchAnswers(open.session, hostile.wrong)
  },
  async send(text) {
    await opened().send(text)
  },
  resync: () => void opened().resync(),
  messages: () => opened().get().messages,
  shown: () => hostile.messages().map((message) => `${message.status} ${textOf(message)}`),
  wrong: [],
  torn: 0,
  tokens: [],
}
window.hostile = hostile
