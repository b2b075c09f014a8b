// `npm run bench` and `npm run compare`: install what is missing, the peers that bench/ compares with included, then run
// a script of bench/ here, named first.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkNode, ensurePackages, root } from './bootstrap.mjs'
import { ensureChromium } from './chromium.mjs'

try {
  checkNode()
  ensurePackages()
  const folder = join(root, 'bench')
  ensurePackages(folder)
  await ensureChromium()
  process.chdir(root)
  const { register } = await import('tsx/esm/api')
  register()
  const [script = 'run.ts'] = process.argv.splice(2, 1)
  await import(pathToFileURL(join(folder, script)).href)
} catch (error) {
  console.error(error instanceof Error && error.name === 'Error' ? error.message : error)
  process.exitCode = 1
}
