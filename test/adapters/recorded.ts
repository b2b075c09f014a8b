import fc from 'fast-check'
import { expect } from 'vitest'
import * as z from 'zod/mini'
import type { Adapter } from '../../src/adapters/adapter.ts'
import { type Heard, hearAll, responseOf } from './answers.ts'
import { answerBytes, cutAt, type Expected, oneByOne, recordedCuts } from './fixtures.ts'

const FailureWords = z.looseObject({
  message: z.optional(z.string()),
  detail: z.optional(z.string()),
  code: z.optional(z.unknown()),
})

/** What the expectations say where the provider said nothing. */
const THEIR_WORDS = [
  'stream ended without a terminal event',
  'no finishReason',
  'no done line',
  'prompt blocked',
]

/** The provider's own words for a failure; empty where the expectation's are of its own making. */
function words({ error, httpStatus, framing }: Expected): string {
  if (typeof error === 'string') return error
  const { message, detail, code } = FailureWords.parse(error ?? {})
  const own = httpStatus === 200 && framing === 'json' ? undefined : (message ?? detail)
  if (own && THEIR_WORDS.includes(own)) return ''
  return own ?? (typeof code === 'string' ? code : '')
}

/** Each block as the final message has it. */
const kept = ({ message }: Heard): unknown[] =>
  // Proof and marks of what grows come with the final message only.
  message.content.map((block) => {
    if (block.type !== 'text' && (block.type !== 'thinking' || block.text === '')) return block
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

/**
 * A recorded answer as an adapter hears it. Whatever the dialect: it fails where it should, in the provider's words; its
 * events tell the same as its message, unless the provider took back what it had said (`restated`); and the very same events
 * come however the bytes are cut.
 */
export async function hearRecorded(
  adapter: Adapter,
  file: string,
  expected: Expected,
  { restated = false } = {},
): Promise<Heard> {
  const bytes = answerBytes(file, expected)
  const replay = (pieces: Uint8Array[]) =>
    hearAll(adapter, responseOf(pieces, { status: expected.httpStatus }))
  const whole = await replay([bytes])
  expect(whole.error !== undefined).toBe(expected.stopReason === 'error')
  expect(whole.error?.message ?? '').toContain(words(expected))
  if (restated) expect(told(whole)).not.toEqual(kept(whole))
  else expect(told(whole)).toEqual(kept(whole))
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
  return whole
}
