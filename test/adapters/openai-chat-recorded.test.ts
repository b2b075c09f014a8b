import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { callsIn, type Heard, hearAll, responseOf, textIn } from './answers.ts'
import { answerBytes, cutAt, type Expected, expectedAnswers, oneByOne, recordedCuts } from './fixtures.ts'

/** Recorded answers that do not come out as expected, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')
const EMPTY = sha256('')

/** An outcome in the words of `expected.json`. Sources and unknown blocks are not in its content. */
function outcome({ message, error }: Heard, expected: Expected): unknown {
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
    failed: error !== undefined,
  }
}

function wanted(expected: Expected): unknown {
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
      : expected.usage
        ? { ...expected.usage, reasoning: expected.usage.reasoning ?? 0 }
        : undefined,
    failed: expected.stopReason === 'error',
  }
}

/** The provider's own words for a failure; empty where the expectation's are of its own making. */
function words({ error, httpStatus, framing }: Expected): string {
  if (typeof error === 'string') return error
  const { message, detail, code } = FailureWords.parse(error ?? {})
  const own = httpStatus === 200 && framing === 'json' ? undefined : (message ?? detail)
  return own ?? (typeof code === 'string' ? code : '')
}
const FailureWords = z.looseObject({
  message: z.optional(z.string()),
  detail: z.optional(z.string()),
  code: z.optional(z.unknown()),
})

/** Each block as the final message has it. */
const kept = ({ message }: Heard): unknown[] =>
  // Proof and marks come with the final message only.
  message.content.map((block) => {
    if (block.type !== 'text' && block.type !== 'thinking') return block
    return { type: block.type, text: block.text }
  })

/** Each block as the events alone tell it. */
function told({ events }: Heard): unknown[] {
  const blocks: Record<string, unknown>[] = []
  for (const event of events) {
    if (!('index' in event)) continue
    const block = blocks[event.index] ?? {}
    blocks[event.index] = block
    if (event.type === 'text' || event.type === 'thinking') {
      const before = typeof block.text === 'string' ? block.text : ''
      Object.assign(block, { type: event.type, text: before + event.delta })
    } else if (event.type === 'source') Object.assign(block, event.source)
    else if (event.type === 'block') Object.assign(block, event.block)
    else if (event.phase === 'end') Object.assign(block, event.call)
  }
  return blocks
}

describe('every recorded Chat Completions answer comes out as expected', () => {
  const answers = expectedAnswers('openai-chat')

  test('there are answers to test, and every exception names one', () => {
    expect(answers.length).toBeGreaterThan(250)
    expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(5)
    const files = new Set(answers.map(([file]) => file))
    expect(Object.keys(EXCEPTIONS).filter((file) => !files.has(file))).toEqual([])
  })

  test.each(answers)('%s', async (file, expected) => {
    const bytes = answerBytes(file, expected.framing)
    const replay = async (pieces: Uint8Array[]) => {
      const adapter = chatAdapter({ provider: expected.provider })
      return hearAll(adapter, responseOf(pieces, { status: expected.httpStatus }))
    }
    const whole = await replay([bytes])
    if (file in EXCEPTIONS) expect(outcome(whole, expected)).not.toEqual(wanted(expected))
    else expect(outcome(whole, expected)).toEqual(wanted(expected))
    expect(told(whole)).toEqual(kept(whole))
    expect(whole.error?.message ?? '').toContain(words(expected))

    // The cuts of the network mean nothing: the very same events come at any.
    const telling = JSON.stringify(whole)
    const toldAt = async (pieces: Uint8Array[]) => JSON.stringify(await replay(pieces))
    expect(await toldAt(cutAt(bytes, recordedCuts(file, expected)))).toBe(telling)
    expect(await toldAt(oneByOne(bytes))).toBe(telling)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
        expect(await toldAt(cutAt(bytes, cuts))).toBe(telling)
      }),
      { numRuns: 3, seed: 8 },
    )
  })
})
