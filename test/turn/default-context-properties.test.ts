import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedaction } from '../../src/context/redact.ts'
import { roughly } from '../../src/context/rough.ts'
import { finder } from '../../src/context/secrets.ts'
import type { SessionRecord, SessionRecords } from '../../src/context/session-records.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Message } from '../../src/message/schema.ts'
import { type DefaultContextOptions, defaultContext } from '../../src/turn/default-context.ts'
import { problemsOf } from '../context/checker.ts'
import { inputOf } from '../context/curve.ts'
import { history } from '../context/history.ts'
import { deepFreeze } from '../support/messages.ts'

const SECRET = /x{3,}|hort/
const id = fc.integer({ min: 0, max: 20 }).map((at) => `m${at}`)

/** A summariser as one may be: it answers, at length, with nothing, with no text, or fails. */
const summariser = fc.constantFrom<DefaultContextOptions['summarise']>(
  () => 'in short',
  async () => 'word '.repeat(3_000),
  () => '',
  async () => 7 as unknown as string,
  () => {
    throw new Error('no')
  },
  () => Promise.reject(new DOMException('gone', 'AbortError')),
)

const options: fc.Arbitrary<DefaultContextOptions> = fc.record(
  {
    window: fc.integer({ min: 2, max: 700 }),
    reserve: fc.constantFrom(0, 1),
    turns: fc.integer({ min: 0, max: 3 }),
    errors: fc.integer({ min: 0, max: 3 }),
    toolResult: fc.integer({ min: 0, max: 80 }),
    maxTurns: fc.integer({ min: 0, max: 4 }),
    goal: fc.constantFrom(false, {}, { goal: 'book a flight' }),
    near: fc.constantFrom(['memory'], ['pins', 'goal', 'summary']),
    tasks: fc.array(fc.record({ from: id, to: id, line: fc.constant('done') }), { maxLength: 2 }),
    pins: fc.record({
      isPinned: fc.array(id).map((ids) => (message: Message) => ids.includes(message.id)),
      facts: fc.array(fc.constantFrom('a fact', 'x'.repeat(200))),
    }),
    summarise: summariser,
    summary: fc.record({ messages: fc.integer({ min: 0, max: 6 }), turns: fc.integer({ min: 0, max: 2 }) }),
    interrupted: fc.constantFrom('text', 'drop'),
    redact: fc.constant(null).map(() => createRedaction({ finders: [finder('x', SECRET)] })),
    recall: fc
      .array(
        fc.record({
          text: fc.constantFrom('sea', 'tide', ''),
          provenance: fc.record({ kind: fc.constantFrom('fact', 'message'), id }),
        }),
        { maxLength: 4 },
      )
      .map((found) => () => found),
  },
  { requiredKeys: ['reserve'] },
) as fc.Arbitrary<DefaultContextOptions>

function records(): SessionRecords {
  const rows = new Map<string, unknown>()
  return {
    read: async () => [...rows].map(([key, value]): SessionRecord => ({ key, value })),
    async write(_, put, gone = []) {
      for (const { key, value } of put) rows.set(key, structuredClone(value))
      for (const key of gone) rows.delete(key)
    },
  }
}

test('whatever is asked of the mix, of any history, call by call: whole, explained, within its window, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(history, options, async (messages, given) => {
      deepFreeze(messages)
      const before = structuredClone(messages)
      const context = defaultContext({ ...given, estimate: roughly })
      const kept = records()
      for (let end = 1; end <= messages.length; end++) {
        const branch = messages.slice(0, end)
        try {
          const made = await context(inputOf(branch, { records: kept }))
          expect(problemsOf(branch, made)).toEqual([])
          const { window = Number.POSITIVE_INFINITY, reserve = 0 } = given
          expect(made.tokens).toBeLessThanOrEqual(window - reserve)
          const parts = Object.values(made.sections).reduce((sum, tokens) => sum + tokens, 0)
          expect(parts).toBe(made.tokens)
          const isTold = made.dropped.some(({ reason }) => reason === 'summary')
          if (isTold) expect(made.notes.map(({ kind }) => kind)).toContain('summary')
          const said = JSON.stringify([
            made.messages.map(({ content }) => content),
            made.notes.map(({ text }) => text),
          ])
          if (given.redact) expect(said).not.toMatch(SECRET)
        } catch (error) {
          if (!(error instanceof TidemarkError && error.code === 'context-overflow')) throw error
        }
      }
      expect(messages).toEqual(before)
    }),
    { numRuns: 200 },
  )
})
