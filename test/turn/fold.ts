import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import type { ChatEvent, RunOutcome } from '../../src/protocol/events.ts'

export interface Folded {
  /** By creation. */
  messages: Message[]
  outcome: RunOutcome | undefined
  /** What a run may not do. */
  problems: string[]
}

const LONE_SURROGATE = /\p{Surrogate}/u

const textIn = (block: AssistantBlock): string =>
  block.type === 'text' || block.type === 'thinking'
    ? block.text
    : block.type === 'toolCall'
      ? (block.rawArguments ?? '')
      : ''

const grown = (block: AssistantBlock, delta: string): AssistantBlock => {
  if (block.type === 'text' || block.type === 'thinking') return { ...block, text: block.text + delta }
  return block.type === 'toolCall' ? { ...block, rawArguments: textIn(block) + delta } : block
}

/** Where a status may go; written down here once more, apart from the code under test. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  pending: ['streaming', 'failed', 'interrupted'],
  streaming: ['completed', 'failed', 'interrupted'],
}
const mayMove = (message: Message, status: string) =>
  message.role === 'tool'
    ? message.status === 'pending' && status === 'completed'
    : MOVES[message.status]?.includes(status)

/** What a whole call, a thought or a text has in common with what was streamed of it. */
const spoken = (block: AssistantBlock): string => {
  if (block.type !== 'toolCall') return `${block.type} ${textIn(block)}`
  return `toolCall ${block.rawArguments ?? JSON.stringify(block.arguments) ?? ''}`
}

/** The messages that a run's events add up to, in a few lines and without the library's reducer. */
export function fold(events: readonly ChatEvent[]): Folded {
  const messages = new Map<string, Message>()
  const problems: string[] = []
  let outcome: RunOutcome | undefined
  let started = 0
  const settle = (id: string, message: Message | undefined, status: Message['status']) => {
    const present = messages.get(id)
    if (!present || !message) return problems.push(`${id} ends without being there`)
    if (!mayMove(present, status)) problems.push(`${id} goes from ${present.status} to ${status}`)
    if (message.status !== status || message.id !== id) problems.push(`${id} is not what it is said to be`)
    if (present.role === 'assistant' && message.role === 'assistant') {
      const streamed = present.content.map(spoken)
      const final = message.content.map(spoken)
      if (streamed.join('\n') !== final.join('\n'))
        problems.push(`${id} streamed ${streamed.join()} but is ${final.join()}`)
    }
    return messages.set(id, message)
  }
  for (const event of events) {
    if (outcome) problems.push(`${event.type} after the end`)
    if (event.type === 'run.started') started++
    else if (started !== 1) problems.push(`${event.type} before the start`)
    if (event.type === 'message.created') messages.set(event.message.id, event.message)
    else if (event.type === 'message.started') {
      const message = messages.get(event.id)
      if (message?.role !== 'assistant' || message.status !== 'pending')
        problems.push(`${event.id} starts late`)
      else messages.set(event.id, { ...message, status: 'streaming' })
    } else if (event.type === 'message.delta') problems.push(...append(messages, event))
    else if (event.type === 'message.updated' && event.message.role === 'assistant') {
      if (messages.get(event.message.id)?.status !== event.message.status)
        problems.push(`${event.message.id} is told anew with another status`)
      messages.set(event.message.id, event.message)
    } else if (event.type === 'message.completed') settle(event.message.id, event.message, 'completed')
    else if (event.type === 'message.failed') settle(event.id, event.message, 'failed')
    else if (event.type === 'message.interrupted') settle(event.id, event.message, 'interrupted')
    else if (event.type === 'run.finished') outcome = event.outcome
  }
  return { messages: [...messages.values()], outcome, problems }
}

function* append(
  messages: Map<string, Message>,
  event: Extract<ChatEvent, { type: 'message.delta' }>,
): Generator<string> {
  const message = messages.get(event.id)
  if (message?.role !== 'assistant' || message.status !== 'streaming')
    return yield `a delta for ${event.id} at the wrong time`
  const content = [...message.content]
  const present = content[event.index]
  if (!present && event.index !== content.length)
    yield `block ${event.index} of ${event.id} has no one before it`
  if (!present && !event.block) yield `block ${event.index} of ${event.id} is not described`
  const block = present ?? event.block ?? { type: 'text', text: '' }
  if (textIn(block).length !== event.offset) yield `a delta at ${event.offset}, not ${textIn(block).length}`
  if (LONE_SURROGATE.test(event.delta)) yield `half a character in ${JSON.stringify(event.delta)}`
  content[event.index] = grown(block, event.delta)
  messages.set(event.id, { ...message, content })
}
