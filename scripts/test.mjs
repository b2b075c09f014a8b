// `npm test`: everything that can be wrong, in one command. Installs what it needs, runs every check even after one has
// failed, and ends with the line "N passed, N failed". To run a few tests alone, say `npx vitest run <path>`.
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkNode, ensurePackages, root } from './bootstrap.mjs'
import { ensureChromium } from './chromium.mjs'
import { countTests, readReport, total } from './count.mjs'

/**
 * @typedef {import('./count.mjs').Tally} Tally
 * @typedef {{ name: string, command: readonly string[] }} Check
 */

const bin = (/** @type {string} */ path) => join(root, 'node_modules', path)
const report = join(root, 'test-results', 'vitest.json')

/** @type {readonly Check[]} Each counts as one test. */
const checks = [
  { name: 'types', command: [bin('typescript/bin/tsc'), '-p', '.'] },
  { name: 'lint', command: [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'] },
  { name: 'build', command: [join(root, 'scripts', 'build.mjs')] },
  { name: 'package', command: [join(root, 'scripts', 'check-package.mjs')] },
]

/** @type {Check} */
const vitest = {
  name: 'vitest',
  command: [
    bin('vitest/vitest.mjs'),
    'run',
    '--allowOnly=false',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
}

/**
 * @param {Check} check
 * @returns {Promise<boolean>} whether it ended well
 */
function run({ name, command }) {
  console.log(`\n▶ ${name}`)
  const start = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    const end = (/** @type {boolean} */ ok) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      console.log(`${ok ? '✓' : '✗'} ${name} (${seconds} s)`)
      resolve(ok)
    }
    child.on('error', (error) => {
      console.error(error.message)
      end(false)
    })
    child.on('exit', (code) => end(code === 0))
  })
}

/** @returns {Promise<Tally>} */
async function runVitest() {
  rmSync(report, { force: true })
  mkdirSync(join(root, 'test-results'), { recursive: true })
  const ok = await run(vitest)
  const { tally, problems } = countTests(readReport(report), ok)
  for (const problem of problems) console.error(`✗ ${problem}`)
  return tally
}

/** @returns {Promise<Tally>} */
async function runAll() {
  checkNode()
  ensurePackages()
  // The types of what bench/ compares with are checked too.
  ensurePackages(join(root, 'bench'))
  await ensureChromium()
  const tallies = []
  for (const check of checks) {
    const ok = await run(check)
    tallies.push({ passed: ok ? 1 : 0, failed: ok ? 0 : 1 })
  }
  return total([...tallies, await runVitest()])
}

const tally = await runAll().catch((error) => {
  console.error(error instanceof Error && error.name === 'Error' ? error.message : error)
  return { passed: 0, failed: 1 }
})
process.exitCode = tally.failed > 0 || tally.passed === 0 ? 1 : 0
console.log(`\n${tally.passed} passed, ${tally.failed} failed`)
