// `npm start`: installs what is missing, then runs the demo and its server in this process.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkNode, ensurePackages, root } from './bootstrap.mjs'

try {
  checkNode()
  ensurePackages()
  process.chdir(root)
  const { register } = await import('tsx/esm/api')
  register()
  await import(pathToFileURL(join(root, 'demo', 'start.ts')).href)
} catch (error) {
  console.error(error instanceof Error && error.name === 'Error' ? error.message : error)
  process.exitCode = 1
}
