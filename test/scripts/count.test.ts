import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../scripts/bootstrap.mjs'
import { countTests, total } from '../../scripts/count.mjs'

const file = (path: string, statuses: readonly string[], status = 'passed') => ({
  name: join(root, path),
  status,
  assertionResults: statuses.map((one, index) => ({ status: one, fullName: `test ${index}` })),
})
const browser = file('test/a.browser.test.ts', ['passed'])
const e2e = file('test/e2e/a.test.ts', ['passed'])
const node = file('test/a.test.ts', ['passed', 'passed'])

describe('counting what ran', () => {
  test('every test of every runner counts once', () => {
    const { tally, problems } = countTests({ testResults: [browser, e2e, node] }, true)
    expect(tally).toEqual({ passed: 4, failed: 0 })
    expect(problems).toEqual([])
  })
  test('a runner that ran nothing is a failure', () => {
    const { tally, problems } = countTests({ testResults: [node, e2e] }, true)
    expect(tally).toEqual({ passed: 3, failed: 1 })
    expect(problems).toEqual(['the browser tests: none ran'])
  })
  test('a report that was never written is three of them', () => {
    expect(countTests({ testResults: [] }, false).tally).toEqual({ passed: 0, failed: 3 })
  })
  test('a test that was skipped did not pass', () => {
    const skipped = file('test/b.test.ts', ['passed', 'pending', 'todo'])
    const { tally, problems } = countTests({ testResults: [browser, e2e, skipped] }, true)
    expect(tally).toEqual({ passed: 3, failed: 2 })
    expect(problems).toContain('test/b.test.ts: "test 1" was not run (pending)')
  })
  test('a file that fails before its first test counts as one failure', () => {
    const broken = file('test/b.test.ts', [], 'failed')
    const { tally, problems } = countTests({ testResults: [browser, e2e, node, broken] }, false)
    expect(tally).toEqual({ passed: 4, failed: 1 })
    expect(problems).toEqual(['test/b.test.ts failed outside its tests'])
  })
  test('an error outside every file counts too', () => {
    expect(countTests({ testResults: [browser, e2e, node] }, false).tally).toEqual({ passed: 4, failed: 1 })
  })
  test('tallies add up', () => {
    expect(
      total([
        { passed: 1, failed: 0 },
        { passed: 2, failed: 3 },
      ]),
    ).toEqual({ passed: 3, failed: 3 })
  })
})
