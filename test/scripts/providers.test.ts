import { describe, expect, test } from 'vitest'
import { problemsOf, rowsOf } from '../../scripts/providers.mjs'
import { EXCEPTIONS } from '../adapters/exceptions.ts'
import { expectedAnswers } from '../adapters/fixtures.ts'

const expected = {
  'a/1.sse': { api: 'gemini' },
  'a/2.sse': { api: 'gemini' },
  'b/1.json': { api: 'ollama' },
  'c/1.json': { api: 'other' },
}

describe('how each dialect fares', () => {
  test('what passed, what has a reason, and what has neither', () => {
    const rows = rowsOf(expected, new Set(['a/1.sse']), { ollama: { 'b/1.json': 'why' } })
    expect(rows).toEqual([
      { dialect: 'gemini', total: 2, passed: 1, excepted: 0, missing: ['a/2.sse'] },
      { dialect: 'ollama', total: 1, passed: 0, excepted: 1, missing: [] },
      { dialect: 'other', total: 1, passed: 0, excepted: 0, missing: ['c/1.json'] },
    ])
    expect(problemsOf(rows)).toEqual([
      'a/2.sse has neither passed nor a reason',
      'c/1.json has neither passed nor a reason',
    ])
  })

  test('an exception does not count as passed, also where its test has', () => {
    const [row] = rowsOf({ x: { api: 'd' } }, new Set(['x']), { d: { x: 'why' } })
    expect(row).toMatchObject({ passed: 0, excepted: 1 })
  })

  test('six exceptions are one too many', () => {
    const row = (excepted: number) => ({ dialect: 'd', total: 9, passed: 0, excepted, missing: [] })
    expect(problemsOf([row(3), row(2)])).toEqual([])
    expect(problemsOf([row(3), row(3)])).toEqual(['6 exceptions, at most 5 are allowed'])
  })
})

test('the exceptions name recorded answers, and are at most five', () => {
  const named = Object.entries(EXCEPTIONS).flatMap(([api, files]) =>
    Object.keys(files).map((file) => ({ api, file })),
  )
  for (const { api, file } of named) expect(expectedAnswers(api).map(([name]) => name)).toContain(file)
  expect(named.length).toBeLessThanOrEqual(5)
})
