import { expect } from 'vitest'
import { assembleContext } from '../../src/context/assemble.ts'
import type { AssembleOptions } from '../../src/context/open-draft.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { problemsOf } from './checker.ts'

/** A question and an answer. */
export const turn = (n: number): Message[] => [
  userMessage(`u${n}`, 'q'.repeat(9)),
  assistantMessage(`a${n}`, 'a'.repeat(9)),
]
export const threeTurns = [...turn(1), ...turn(2), userMessage('u3', 'q'.repeat(9))]

/** A context that was checked. */
export const sent = (messages: Message[], options: Omit<AssembleOptions, 'messages'> = {}) => {
  const context = assembleContext({ messages, ...options })
  expect(problemsOf(messages, context)).toEqual([])
  return context
}
/** What is sent, in one line. */
export const ids = (context: { messages: Message[] }) =>
  context.messages.map((message) => message.id).join(' ')
/** What is left out and why, in one line. */
export const why = ({ dropped }: { dropped: { id: string; reason: string }[] }) =>
  dropped.map(({ id, reason }) => `${id} ${reason}`).join(', ')

/** Counts one token a message, and one a character of text. */
export const exact = {
  text: (text: string) => text.length,
  message: (message: Message) => 1 + textOf(message).length,
}
