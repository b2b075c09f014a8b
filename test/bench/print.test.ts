import { expect, test } from 'vitest'
import type { Result } from '../../bench/measure.ts'
import { countHeld, ratiosTable, sizesTable, timesTable } from '../../bench/print.ts'

const spread = { median: 1_234, low: 1_000, high: 2_000_000 }
const result: Result = {
  name: 'case',
  unit: 'delta',
  times: [{ name: 'ours', rounds: 3, ...spread }],
  ratios: [
    { of: 'ours', to: 'floor', most: 1.3, median: 1.2, low: 1.1, high: 1.35 },
    { of: 'peer', to: 'ours', least: 10, median: 8.5, low: 8, high: 123.4 },
    { of: 'other', to: 'ours', median: 3, low: 2, high: 4 },
  ],
}
const rows = [{ name: 'case', results: [result, result] }]
const sizes = [
  { what: 'core', gzip: 20_000, bytes: 60_000, most: 22_000 },
  { what: 'more', gzip: 60_000, bytes: 90_000, most: 55_000 },
]
const peers = [{ what: 'peer', gzip: 50_000, bytes: 99_000 }]

test('times are printed with their unit, a column an engine', () => {
  expect(timesTable(['Node', 'Chromium'], rows)).toBe(
    [
      '| case | who             | Node    | Chromium |',
      '|------|-----------------|---------|----------|',
      '| case | ours, per delta | 1.23 µs | 1.23 µs  |',
    ].join('\n'),
  )
})

test('ratios are printed beside their bounds, and said to be held or not', () => {
  const [, , held, not, none] = ratiosTable(['Node'], [{ name: 'case', results: [result] }]).split('\n')
  expect(held).toContain('≤ 1.3')
  expect(held).toContain('1.20 (1.10–1.35) | held')
  expect(not).toContain('≥ 10')
  expect(not).toContain('8.50 (8.00–123)')
  expect(not).toContain('NOT HELD')
  expect(none).not.toMatch(/held/i)
})

test('sizes are printed beside their budgets, peers beside the core', () => {
  const table = sizesTable(sizes, peers)
  expect(table).toMatch(/core +\| 20\.0 kB +\| 60\.0 kB \| ≤ 22\.0 kB \| held/)
  expect(table).toMatch(/more +\| 60\.0 kB +\| 90\.0 kB \| ≤ 55\.0 kB \| NOT HELD/)
  expect(table).toMatch(/peer +\| 50\.0 kB +\| 99\.0 kB \| +\| 2\.50 × the first row/)
})

test('every bound counts, in every engine', () => {
  expect(countHeld(rows, sizes)).toEqual({ held: 3, all: 6 })
})
