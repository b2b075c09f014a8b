import { assembleContext } from '../../src/context/assemble.ts'
import { slidingWindow } from '../../src/context/policies.ts'
import type { ContextView } from '../../src/context/view.ts'
import { platformEnv } from '../../src/lib/env.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { type DefaultContextOptions, defaultContext } from '../../src/turn/default-context.ts'
import type { ContextInput } from '../../src/turn/run-turn.ts'
import type { Booking } from './booking.ts'

/** A summariser that says of each message a few words, as a rule of the seeds' example does; and counts its calls. */
export function ruleSummariser() {
  const calls: (readonly Message[])[] = []
  return {
    calls,
    summarise(messages: readonly Message[]) {
      calls.push(messages)
      const lines = messages.map((message) => `${message.role}: ${textOf(message).slice(0, 60)}`)
      return lines.slice(-20).join('\n')
    },
  }
}

export const inputOf = (messages: readonly Message[], more: Partial<ContextInput> = {}): ContextInput => ({
  messages,
  sessionId: 's1',
  model: { provider: 'test', id: 'unknown' },
  env: platformEnv,
  signal: new AbortController().signal,
  ...more,
})

export type Sender = (messages: readonly Message[]) => ContextView | Promise<ContextView>

/** The ways to send a history that are compared. */
export const senders = (
  booking: Booking,
  options: DefaultContextOptions = {},
): Record<'everything' | 'sliding window' | 'default', Sender> => {
  const mix = defaultContext({ tasks: booking.tasks, ...options })
  return {
    everything: (messages) => assembleContext({ messages }),
    'sliding window': (messages) => assembleContext({ messages, policies: [slidingWindow(5)] }),
    default: (messages) => mix(inputOf(messages)),
  }
}

/** The histories of the model calls of a conversation: at each question, and after each step of tools. */
export function* modelCalls({
  messages,
  questions,
}: Booking): Generator<{ turn: number; messages: Message[] }> {
  let turn = -1
  for (const [at, message] of messages.entries()) {
    if (questions.includes(at)) turn++
    const next = messages[at + 1]
    const isStep = message.role === 'tool' && next?.role !== 'tool'
    if (message.role === 'user' || isStep) yield { turn, messages: messages.slice(0, at + 1) }
  }
}
