import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { type Heard, hearAll, responseOf } from './answers.ts'
import { answerBytes, cutAt, type Expected, expectedAnswers, oneByOne, recordedCuts } from './fixtures.ts'
import { outcomeOf, wantedOf } from './outcome.ts'

/** Recorded answers that do not come out as expected, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {}

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
    if (file in EXCEPTIONS) expect(outcomeOf(whole.message, expected)).not.toEqual(wantedOf(expected))
    else expect(outcomeOf(whole.message, expected)).toEqual(wantedOf(expected))
    expect(whole.error !== undefined).toBe(expected.stopReason === 'error')
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
