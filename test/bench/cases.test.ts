import { describe, expect, test } from 'vitest'
import { answerOf, chunksOf } from '../../bench/answer.ts'
import { jsonCases } from '../../bench/json.ts'
import { type Case, measure } from '../../bench/measure.ts'
import { type SsePeer, sseCases } from '../../bench/sse.ts'
import { storeCases } from '../../bench/store.ts'

const once = { rounds: 1, warmUp: 0 }

/** Reads an answer's bytes at once, as another library might. */
const reader: SsePeer = {
  name: 'reader',
  async read(response, onEvent) {
    for (const line of (await response.text()).split('\n'))
      if (line.startsWith('data: ')) onEvent(JSON.parse(line.slice(6)))
  },
}

const deaf: SsePeer = {
  name: 'deaf',
  async read(response) {
    await response.text()
  },
}

const sizes = { deltas: 300, few: 20, many: 600, history: 250 }

const cases: Case[] = [
  ...sseCases({ events: 200, many: 600 }, [reader]),
  ...storeCases(sizes, []),
  ...jsonCases({ characters: 2_000 }),
]

describe('each case of the bench', () => {
  test.each(cases.map((given) => [given.name, given] as const))('%s works', async (_, given) => {
    const { times, ratios } = await measure(given, once)
    expect(times.map(({ name }) => name)).toEqual(given.contestants.map(({ name }) => name))
    for (const { median } of times) expect(median).toBeGreaterThan(0)
    for (const { median } of ratios) expect(median).toBeGreaterThan(0)
    expect(ratios).toHaveLength(given.claims.length)
  })

  test('has a name of its own', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })
})

test('who leaves something out is found out', async () => {
  const [first] = sseCases({ events: 10, many: 20 }, [deaf])
  if (!first) throw new Error('there are cases')
  await expect(measure(first, once)).rejects.toThrow('heard 0 characters')
})

test('the budgets are claims of the bench', () => {
  const bounds = cases.flatMap(({ name, claims }) =>
    claims.flatMap(({ most }) => (most === undefined ? [] : [`${name}: ${most}`])),
  )
  expect(bounds).toEqual([
    'sse: one event a chunk: 1.6',
    'sse: 256 B chunks: 1.6',
    'sse: 1 kB chunks: 1.6',
    'sse: 4 kB chunks: 1.6',
    'sse: 16 kB chunks: 1.6',
    'sse: 64 kB chunks: 1.6',
    'sse: 600 events: 1.2',
    'store: 16 kB chunks: 1.3',
    'store: one event a chunk: 1.3',
    'store: a long answer: 1.2',
    'store: a long history: 1.1',
    'json: a file: 1.5',
    'json: records: 1.5',
    'json: numbers: 1.5',
    'json: decimals: 1.5',
    'json: words: 1.5',
    'json: nested: 1.5',
  ])
})

test('an answer is the same however its bytes are cut', () => {
  const { deltas, text } = answerOf(500)
  expect(deltas.join('')).toBe(text)
  for (const chunking of ['event', 'whole', 256] as const) {
    const bytes = chunksOf(deltas, chunking).flatMap((chunk) => [...chunk])
    expect(new TextDecoder().decode(Uint8Array.from(bytes))).toBe(text)
  }
})
