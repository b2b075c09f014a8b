// `npm run build`: one file of ESM and one of types for each source file, in dist/.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { checkNode, ensurePackages, root } from './bootstrap.mjs'

checkNode()
ensurePackages()
rmSync(join(root, 'dist'), { recursive: true, force: true })
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
