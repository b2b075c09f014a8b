// `npm run compare`: what befalls one question and its answer in three libraries, each with the server that its own
// documentation would have one build. Printed as found, nothing is asserted.
//   --only 7          the scenarios that begin so
//   --library ai-sdk  one library
//   --stride 41       a cut every so many bytes; 1 for each byte
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchBrowser } from '../../test/support/browser.ts'
import { bundleInto } from '../bundle.ts'
import { table } from '../print.ts'
import { type Outcome, STEPS } from './drive.ts'
import { SCENARIOS } from './scenarios.ts'
import { serveComparison } from './server.ts'

const LIBRARIES = ['tidemark', 'ai-sdk', 'tanstack']

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    library: { type: 'string', default: '' },
    stride: { type: 'string', default: '41' },
  },
})
const stride = Number(values.stride)
if (!Number.isInteger(stride) || stride < 1)
  throw new Error('--stride: expected a whole number of at least 1')

const some = (count: number): string => (count === 0 ? '' : String(count))

function rowOf(scenario: string, library: string, outcomes: readonly Outcome[]): string[] {
  const steps = STEPS.map((step) => some(outcomes.filter((one) => one.step === step).length))
  const posed = some(outcomes.filter((one) => one.posed).length)
  const doubled = some(outcomes.filter((one) => one.doubled).length)
  return [scenario, library, String(outcomes.length), ...steps, posed, doubled]
}

const folder = mkdtempSync(join(tmpdir(), 'tidemark-compare-'))
const server = await serveComparison(await bundleInto(folder, 'compare/page.tsx', 'page.js'))
const browser = await launchBrowser()
const rows: string[][] = []
try {
  for (const { name, run } of SCENARIOS.filter((one) => one.name.startsWith(values.only)))
    for (const library of LIBRARIES.filter((one) => one.startsWith(values.library))) {
      process.stderr.write(`${name}: ${library}\n`)
      // One that breaks off is told of; the others are compared all the same.
      const outcomes = await run({ browser, server, library, stride }).catch((thrown: unknown) => {
        console.error(thrown)
        return undefined
      })
      rows.push(outcomes ? rowOf(name, library, outcomes) : [name, library, 'broke off'])
    }
} finally {
  await browser.close()
  await server.close()
  rmSync(folder, { recursive: true })
}
console.log(
  'How many tries ended with the one question and its one answer whole, and what the user had to do for it\n',
)
console.log(
  table(['scenario', 'library', 'tries', ...STEPS, 'a part posed as the whole', 'asked twice'], rows),
)
