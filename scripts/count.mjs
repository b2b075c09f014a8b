// Adds up what the test runner reports. Whatever is not a test that ran and passed is a failure.
import { existsSync, readFileSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { root } from './bootstrap.mjs'

/**
 * @typedef {{ passed: number, failed: number }} Tally
 * @typedef {{ status: string, fullName: string, title?: string }} Assertion
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Assertion[] }} FileResult
 * @typedef {{ testResults: FileResult[] }} Report vitest's JSON report, as far as it is read
 */

/** Which of the runners a test file belongs to, the first match counting. */
const runners = /** @type {const} */ ([
  ['e2e', /^test\/e2e\//],
  ['browser', /\.browser\.test\.tsx?$/],
  ['node', /./],
])

/**
 * @param {string} path
 * @returns {Report}
 */
export function readReport(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { testResults: [] }
}

/** @param {readonly Tally[]} tallies */
export function total(tallies) {
  return tallies.reduce(
    (sum, { passed, failed }) => ({ passed: sum.passed + passed, failed: sum.failed + failed }),
    {
      passed: 0,
      failed: 0,
    },
  )
}

/**
 * @param {Report} report
 * @param {boolean} endedWell whether the runner's process ended with 0
 * @returns {{ tally: Tally, problems: string[] }}
 */
export function countTests(report, endedWell) {
  const problems = []
  const ran = { e2e: 0, browser: 0, node: 0 }
  let passed = 0
  let failed = 0
  for (const file of report.testResults) {
    const path = relative(root, file.name).split(sep).join('/')
    const runner = runners.find(([, pattern]) => pattern.test(path))?.[0] ?? 'node'
    const failedBefore = failed
    for (const test of file.assertionResults) {
      ran[runner] += 1
      if (test.status === 'passed') passed += 1
      else failed += 1
      if (test.status !== 'passed' && test.status !== 'failed') {
        problems.push(`${path}: "${test.fullName}" was not run (${test.status})`)
      }
    }
    if (file.status === 'failed' && failed === failedBefore) {
      failed += 1
      problems.push(`${path} failed outside its tests`)
    }
  }
  for (const [runner, count] of Object.entries(ran)) {
    if (count > 0) continue
    failed += 1
    problems.push(`the ${runner} tests: none ran`)
  }
  if (!endedWell && failed === 0) {
    failed += 1
    problems.push('the test runner ended with an error outside every test')
  }
  return { tally: { passed, failed }, problems }
}
