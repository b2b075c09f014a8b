import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import type { Envelope } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, newTrace, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { empty, fold } from './fold.ts'
import { assistant, created, delta, numberedFrom, plain, started, user } from './rows.ts'

/** A map that counts how often it is walked over, which is what a copy does, too, and how often it is asked. */
class Counted extends Map<string, Message> {
  walked = 0
  asked = 0
  override get(id: string): Message | undefined {
    this.asked++
    return super.get(id)
  }
  override has(id: string): boolean {
    this.asked++
    return super.has(id)
  }
  override forEach(...args: Parameters<Map<string, Message>['forEach']>): void {
    this.walked++
    super.forEach(...args)
  }
  override [Symbol.iterator](): MapIterator<[string, Message]> {
    this.walked++
    return super[Symbol.iterator]()
  }
  override entries(): MapIterator<[string, Message]> {
    this.walked++
    return super.entries()
  }
  override keys(): MapIterator<string> {
    this.walked++
    return super.keys()
  }
  override values(): MapIterator<Message> {
    this.walked++
    return super.values()
  }
}

function withHistory(size: number): { state: SessionState; rest: Counted } {
  const rest = new Counted()
  for (let n = 1; n <= size; n++) rest.set(`m${n}`, user(`m${n}`, { seq: n, rev: n }))
  const answer = assistant('a', { seq: size + 1, rev: size + 1 })
  const known = { ...putMessages(empty, [answer]), rest, cursor: { n: 7, tag: 't7' } }
  const state = fold(numberedFrom(7, started('a', size + 2), delta('a', 'x', 0)), known)
  rest.walked = 0
  rest.asked = 0
  return { state, rest }
}

const DELTAS = 200
const stream = Array.from({ length: DELTAS }, (_, n) => delta('a', 'ab', 1 + 2 * n))
const tellings: [string, Envelope[]][] = [
  ['numbered', numberedFrom(9, ...stream)],
  ['without numbers', plain(...stream)],
  ['repeated', [...plain(...stream), ...plain(...stream)]],
]

describe.each(tellings)('a delta %s', (_, envelopes) => {
  test('never walks over the history, and leaves it the same object', () => {
    const { state, rest } = withHistory(2_000)
    let folded = state
    for (const envelope of envelopes) folded = reduce(folded, envelope, 0, newTrace())
    expect(messageOf(folded, 'a')?.content).toEqual([{ type: 'text', text: `x${'ab'.repeat(DELTAS)}` }])
    expect(rest.walked).toBe(0)
    expect(folded.rest).toBe(state.rest)
    expect(folded.tombstones).toBe(state.tombstones)
    expect(folded.session).toBe(state.session)
    expect(folded.runs).toBe(state.runs)
  })

  test('asks it as often as it would a short one', () => {
    const asked = [0, 10, 2_000].map((size) => {
      const { state, rest } = withHistory(size)
      fold(envelopes, state)
      return rest.asked
    })
    expect(new Set(asked).size).toBe(1)
  })
})

describe('while one block grows', () => {
  test('the other blocks, and the other answers, are the same objects', () => {
    const blocks = Array.from(
      { length: 50 },
      (_, n) => ({ type: 'source', url: `https://example.org/${n}` }) as const,
    )
    const before = fold(
      plain(
        created(assistant('a', { status: 'streaming', content: [...blocks] })),
        created(assistant('b', { status: 'streaming' })),
      ),
    )
    const after = fold(plain(delta('a', 'one', 0, 50), delta('a', 'two', 3, 50)), before)
    const content = messageOf(after, 'a')?.content ?? []
    expect(content).toHaveLength(51)
    for (const [index, block] of blocks.entries()) expect(content[index]).toBe(block)
    expect(messageOf(after, 'b')).toBe(messageOf(before, 'b'))
  })

  test('an event of a run, or one that nobody knows, does not touch the history either', () => {
    const { state, rest } = withHistory(100)
    const after = fold(numberedFrom(9, { type: 'run.started', runId: 'r' }, { type: 'unknown' }), state)
    expect(after.rest).toBe(rest)
    expect(after.live).toBe(state.live)
  })
})

test('the counting map notices a copy', () => {
  const { rest } = withHistory(3)
  expect(new Map(rest).size).toBe(3)
  expect(rest.walked).toBe(1)
})
