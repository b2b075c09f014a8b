import { type ChatSession, type Message, textOf } from 'tidemark'

const RANK = { pending: 0, streaming: 1, completed: 2, failed: 2, interrupted: 2 } as const

/** Whether a message has come to its end. */
export const isSettled = ({ status }: Message): boolean => RANK[status] === 2

/** Notes what must never be seen: of each answer the text only ever grows, and the status only goes forward and ends once. */
export function watchAnswers(session: ChatSession, wrong: string[]): void {
  const versions = new Map<string, Message>()
  const look = () => {
    for (const message of session.get().messages) {
      const before = versions.get(message.id)
      versions.set(message.id, message)
      if (!before || before === message || message.role !== 'assistant') continue
      const [was, is] = [before, message].map((one) => `${one.status} “${textOf(one)}”`)
      const isBack = RANK[message.status] < RANK[before.status]
      const endsTwice = isSettled(before) && message.status !== before.status
      if (isBack || endsTwice || !textOf(message).startsWith(textOf(before))) wrong.push(`${was} → ${is}`)
    }
  }
  session.subscribe(look)
  look()
}

/** A clock that goes so many times as fast as the world's. */
export const clockOf = (speed: number) => ({
  now: () => Date.now() * speed,
  sleep: (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, Math.min(ms / speed, 2 ** 31 - 1))
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
      if (signal?.aborted) reject(signal.reason)
    }),
})
