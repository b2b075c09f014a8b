// `npm run bench`: installs what is missing, the peers that bench/ compares with included, then runs bench/run.ts here.
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
  await import(pathToFileURL(join(folder, 'run.ts')).href)
} catch (error) {
  console.error(error instanceof Error && error.name === 'Error' ? error.message : error)
  process.exitCode = 1
}
