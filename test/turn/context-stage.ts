import { expect } from 'vitest'
import type { SessionRecord, SessionRecords } from '../../src/context/session-records.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { type DefaultContextOptions, defaultContext } from '../../src/turn/default-context.ts'
import { problemsOf } from '../context/checker.ts'
import { inputOf } from '../context/curve.ts'
import { turn } from '../context/sent.ts'
import { deepFreeze, userMessage } from '../support/messages.ts'

/** So many turns, and a question. */
export const chatOf = (turns: number, question = 'now?'): Message[] => [
  ...Array.from({ length: turns }, (_, at) => turn(at)).flat(),
  userMessage('now', question),
]

function memoryRecords(): SessionRecords & { rows: Map<string, unknown> } {
  const rows = new Map<string, unknown>()
  return {
    rows,
    read: async () => [...rows].map(([key, value]): SessionRecord => ({ key, value })),
    async write(_, put, gone = []) {
      for (const { key, value } of put) rows.set(key, structuredClone(value))
      for (const key of gone) rows.delete(key)
    },
  }
}

/** A summariser that answers in turn, and contexts that were checked. */
export function stage(
  answers: (string | (() => string | Promise<string>))[] = [],
  options: DefaultContextOptions = {},
) {
  const asked: string[][] = []
  const records = memoryRecords()
  const context = defaultContext({
    summarise(messages) {
      asked.push(messages.map((message) => (message.id === 'summary' ? textOf(message) : message.id)))
      const answer = answers[asked.length - 1] ?? `summary ${asked.length}`
      return typeof answer === 'string' ? answer : answer()
    },
    summary: { messages: 12, turns: 2 },
    ...options,
  })
  const show = async (messages: Message[], more: Parameters<typeof inputOf>[1] = {}) => {
    deepFreeze(messages)
    const made = await context(inputOf(messages, { records, ...more }))
    expect(problemsOf(messages, made)).toEqual([])
    return made
  }
  return { asked, records, show, context }
}
export const first = (messages: readonly Message[]) => messages[0]?.id
