import { type Chat, type ChatSession, createChat, type Message, remote, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'

/** What the page offers to the test that drives it. */
export interface StagePage {
  readonly chat: Chat
  readonly session: ChatSession
  /** The number of the last event that came. */
  heard: number
  /** What must never be seen, and was. */
  readonly wrong: string[]
  /** Sent with each request, as `headers` says. */
  token: string | undefined
  /** Each message as it is shown. */
  shown(): { id: string; role: string; status: string; text: string }[]
  /** The text of the newest message. */
  last(): string
}

declare global {
  interface Window {
    stage: StagePage
  }
}

const asked = new URLSearchParams(location.search)
/** How many times as fast as the world the chat's own clock goes. */
const speed = Number(asked.get('speed') ?? 1)
const RANK = { pending: 0, streaming: 1, completed: 2, failed: 2, interrupted: 2 } as const

/** The platform's, except that it notes which events came. */
const listening: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.headers.get('content-type')?.includes('event-stream') || !response.body) return response
  const decoder = new TextDecoder()
  let rest = ''
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) stage.heard = Number(/^id: (\d+)/.exec(line)?.[1] ?? stage.heard)
    },
  })
  return new Response(response.body.pipeThrough(through), response)
}

const sleep = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, Math.min(ms / speed, 2 ** 31 - 1))
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
    if (signal?.aborted) reject(signal.reason)
  })

const chat = createChat({
  storage: dexieStorage('stage'),
  runtime: remote({
    url: '/api',
    headers: async (): Promise<Record<string, string>> =>
      stage.token === undefined ? {} : { authorization: `Bearer ${stage.token}` },
    ...(asked.has('listen') && { fetch: listening }),
  }),
  ...(speed !== 1 && { env: { sleep, now: () => Date.now() * speed } }),
})
const session = chat.session(asked.get('session') ?? 's')

const stage: StagePage = {
  chat,
  session,
  heard: 0,
  wrong: [],
  token: undefined,
  shown: () =>
    session.get().messages.map((message) => ({
      id: message.id,
      role: message.role,
      status: message.status,
      text: textOf(message),
    })),
  last: () => stage.shown().at(-1)?.text ?? '',
}

const versions = new Map<string, Message>()
// Of each answer the text only ever grows, and the status only ever goes forward and ends once.
const look = () => {
  for (const message of session.get().messages) {
    const before = versions.get(message.id)
    versions.set(message.id, message)
    if (!before || before === message || message.role !== 'assistant') continue
    const [was, is] = [before, message].map((one) => `${one.status} “${textOf(one)}”`)
    const isBack = RANK[message.status] < RANK[before.status]
    const endsTwice = RANK[before.status] === 2 && message.status !== before.status
    if (isBack || endsTwice || !textOf(message).startsWith(textOf(before))) stage.wrong.push(`${was} → ${is}`)
  }
}
session.subscribe(look)
look()
window.stage = stage
