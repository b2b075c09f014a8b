// `npm run test:providers`: all tests of the adapters; then, for each dialect, how many of the recorded answers come out as
// `expected.json` says, and which do not, with the reason. Ends badly where a test failed, or an answer has neither.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkNode, ensurePackages, root } from './bootstrap.mjs'
import { readReport } from './count.mjs'

/**
 * @typedef {Readonly<Record<string, Readonly<Record<string, string>>>>} Exceptions reasons by dialect and file
 * @typedef {{ dialect: string, total: number, passed: number, excepted: number, missing: string[] }} Row
 */

/** Most answers that may come out otherwise, over all dialects. */
const MOST_EXCEPTIONS = 5

/**
 * How each dialect fares: an answer has passed where the test of its name has, in a file of recorded answers.
 * @param {Readonly<Record<string, { api: string }>>} expected
 * @param {ReadonlySet<string>} passed files of recorded answers
 * @param {Exceptions} exceptions
 * @returns {Row[]}
 */
export function rowsOf(expected, passed, exceptions) {
  /** @type {Map<string, Row>} */
  const rows = new Map()
  for (const [file, { api: dialect }] of Object.entries(expected)) {
    const row = rows.get(dialect) ?? { dialect, total: 0, passed: 0, excepted: 0, missing: [] }
    rows.set(dialect, row)
    row.total += 1
    // An exception is one even where a test holds its difference.
    if (exceptions[dialect]?.[file]) row.excepted += 1
    else if (passed.has(file)) row.passed += 1
    else row.missing.push(file)
  }
  return [...rows.values()].sort((a, b) => b.total - a.total)
}

/**
 * What is wrong, in sentences.
 * @param {readonly Row[]} rows
 * @returns {string[]}
 */
export function problemsOf(rows) {
  const excepted = rows.reduce((sum, row) => sum + row.excepted, 0)
  return [
    ...rows.flatMap(({ missing }) => missing.map((file) => `${file} has neither passed nor a reason`)),
    ...(excepted > MOST_EXCEPTIONS ? [`${excepted} exceptions, at most ${MOST_EXCEPTIONS} are allowed`] : []),
  ]
}

/**
 * @param {readonly Row[]} rows
 * @param {Exceptions} exceptions
 */
function print(rows, exceptions) {
  console.log('\nRecorded answers that come out as expected')
  for (const { dialect, total, passed } of rows)
    console.log(`  ${dialect.padEnd(20)} ${`${passed} of ${total}`.padStart(11)}`)
  console.log('\nExceptions')
  for (const [dialect, files] of Object.entries(exceptions))
    for (const [file, reason] of Object.entries(files)) console.log(`  ${dialect}: ${file}\n    ${reason}`)
}

/** @returns {Promise<number>} the exit code */
async function main() {
  checkNode()
  ensurePackages()
  const fixtures = join(root, '..', 'shared', 'fixtures', 'providers', 'expected.json')
  if (!existsSync(fixtures))
    throw new Error('the provider fixtures are missing: ../shared/fixtures/providers')
  const report = join(root, 'test-results', 'providers.json')
  rmSync(report, { force: true })
  mkdirSync(join(root, 'test-results'), { recursive: true })
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const options = [
    '--allowOnly=false',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/adapters', ...options], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const passed = new Set(
    readReport(report)
      .testResults.filter(({ name }) => basename(name).endsWith('-recorded.test.ts'))
      .flatMap(({ assertionResults }) => assertionResults)
      .flatMap((test) => (test.status === 'passed' && test.title ? [test.title] : [])),
  )
  const { register } = await import('tsx/esm/api')
  register()
  const table = await import(pathToFileURL(join(root, 'test', 'adapters', 'exceptions.ts')).href)
  const rows = rowsOf(JSON.parse(readFileSync(fixtures, 'utf8')), passed, table.EXCEPTIONS)
  print(rows, table.EXCEPTIONS)
  const problems = problemsOf(rows)
  for (const problem of problems) console.error(`✗ ${problem}`)
  return status === 0 && problems.length === 0 ? 0 : 1
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    process.exitCode = await main()
  } catch (error) {
    console.error(error instanceof Error && error.name === 'Error' ? error.message : error)
    process.exitCode = 1
  }
}
