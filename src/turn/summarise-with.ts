import type { CallOptions, Model } from '../adapters/contract.ts'
import { errorFrom, TidemarkError } from '../lib/errors.ts'
import { type Message, SCHEMA_VERSION, type UserMessage } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import type { Summarise } from './summaries.ts'

const INSTRUCTIONS = `Summarise the conversation below for the assistant that will go on with it and will not see it again.
Write in the language of the conversation, in short lines: what the user wants, what was decided, what was done and with what result, what is still open.
Keep names, numbers, codes, dates and identifiers exactly as they are. If it begins with a summary so far, extend that one. Write nothing else.`

/** A message as a line of a record. */
function lineOf(message: Message): string {
  const calls = message.content.flatMap((block) =>
    block.type === 'toolCall'
      ? [`(calls ${block.name} ${block.rawArguments ?? JSON.stringify(block.arguments) ?? ''})`]
      : [],
  )
  const who = message.role === 'tool' ? `tool ${message.toolName}` : message.role
  return `${who}: ${[textOf(message).trim(), ...calls].filter((part) => part !== '').join(' ')}`
}

const questionOf = (messages: readonly Message[], [first]: readonly Message[] = messages): UserMessage => ({
  id: 'summarise',
  sessionId: first?.sessionId ?? 'summarise',
  parentId: null,
  role: 'user',
  status: 'completed',
  content: [{ type: 'text', text: messages.map(lineOf).join('\n') }],
  createdAt: first?.createdAt ?? 0,
  updatedAt: first?.updatedAt ?? 0,
  v: SCHEMA_VERSION,
})

export interface SummariseWithOptions {
  /** What the model is told to do. */
  instructions?: string
  /** Options of its call. @default at most 800 tokens of output */
  call?: CallOptions
}

/**
 * A summariser that asks a model, best a small one. It gets the messages as one text, so that no provider's rules of order or
 * pairing apply. Throws what the model ends with, if that is no text.
 */
export function summariseWith(
  model: Model,
  { instructions = INSTRUCTIONS, call = { maxOutputTokens: 800 } }: SummariseWithOptions = {},
): Summarise {
  return async (messages, { signal }) => {
    const context = { system: instructions, messages: [questionOf(messages)] }
    for await (const event of model.stream(context, { ...call, signal })) {
      if (event.type === 'error') throw errorFrom(event.error)
      if (event.type === 'done') return textOf(event.message)
    }
    throw new TidemarkError('protocol', 'the model ended without saying so')
  }
}
