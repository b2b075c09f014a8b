import { createHash } from 'node:crypto'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import { callsIn, textIn } from './answers.ts'
import type { Expected } from './fixtures.ts'

export const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')
const EMPTY = sha256('')

/** A message in the words of `expected.json`. Sources and unknown blocks are not in its content. */
export function outcomeOf(message: AssistantDraft, expected: Expected): unknown {
  const { usage } = message
  return {
    model: message.model ?? null,
    responseId: message.responseId ?? null,
    blocks: message.content
      .filter((block) => block.type !== 'source' && block.type !== 'other')
      .map((block) => [block.type, block.type === 'text' && block.refusal === true]),
    text: sha256(textIn(message)),
    thinking: sha256(textIn(message, 'thinking')),
    toolCalls: callsIn(message).map(({ id, name, ...call }, i) => ({
      // A call that came without an id was given one.
      id: expected.toolCalls[i]?.id ? id : id.length > 0,
      name,
      arguments: call.arguments,
    })),
    stopReason: message.stopReason,
    usage: expected.usageAmbiguous ? 'ambiguous' : usage && { ...usage, reasoning: usage.reasoning ?? 0 },
  }
}

/** What it must be. */
export function wantedOf(expected: Expected): unknown {
  const { usage } = expected
  return {
    model: expected.model,
    responseId: expected.responseId || null,
    blocks: expected.content.map((block) => [block.type, block.refusal === true]),
    text: expected.textSha256,
    thinking: expected.thinkingSha256 ?? EMPTY,
    toolCalls: expected.toolCalls.map((call) => ({ ...call, id: call.id ?? true })),
    stopReason: expected.stopReason,
    usage: expected.usageAmbiguous
      ? 'ambiguous'
      : usage
        ? { ...usage, reasoning: usage.reasoning ?? 0 }
        : undefined,
  }
}
