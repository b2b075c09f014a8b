import type { Message } from '../message/schema.ts'
import type { CallRecord } from './call-record.ts'

/** What one answer was given to read. */
export interface GrowthPoint {
  /** The answer. */
  messageId: string
  /** Which user message of the branch it answers, from 1; 0 where none comes before it. */
  turn: number
  /** Tokens as estimated, of what was sent. */
  estimated?: number
  /** The same before anything was cut: what sending everything would have cost. */
  whole?: number
  /** Tokens as the provider counted them: input, cached or not. */
  actual?: number
  /** `estimated` by part: `system`, `history` and so on. */
  sections?: Readonly<Record<string, number>>
}

/**
 * How what is sent grows over the turns of a branch: a point for each answer of which something is known, oldest first. What was
 * estimated is in the records of the calls, what was counted in the usage of the answers.
 *
 * @example
 * growthOf(session.get().messages, await session.calls())
 */
export function growthOf(messages: Iterable<Message>, calls: Iterable<CallRecord> = []): GrowthPoint[] {
  // Of several attempts the last one counts: it is the one that was answered.
  const byMessage = new Map<string, CallRecord>()
  for (const call of calls) if (call.sent) byMessage.set(call.messageId, call)
  const points: GrowthPoint[] = []
  let turn = 0
  for (const message of messages) {
    if (message.role === 'user') turn++
    if (message.role !== 'assistant') continue
    const call = byMessage.get(message.id)
    const sent = call?.sent
    const usage = message.usage ?? call?.usage
    if (!sent && !usage) continue
    points.push({
      messageId: message.id,
      turn,
      ...(sent?.estimated !== undefined && { estimated: sent.estimated }),
      ...(sent?.before !== undefined && { whole: sent.before }),
      ...(sent?.sections && {
        sections: Object.fromEntries(sent.sections.map(({ name, tokens }) => [name, tokens])),
      }),
      ...(usage && { actual: usage.input + usage.cacheRead + usage.cacheWrite }),
    })
  }
  return points
}
