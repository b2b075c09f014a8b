// What a user gets from the registry: publint over what would be published, and every door imported by its name.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { root } from './bootstrap.mjs'
import { readDoors } from './doors.mjs'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { messages } = await publint({ pkgDir: root, strict: true, pack: 'npm' })
const problems = messages.map((message) => formatMessage(message, manifest) ?? message.code)
for (const { name } of readDoors()) {
  try {
    // By name this resolves through `exports`, as it does for a user.
    const door = await import(name)
    if (Object.keys(door).length === 0) problems.push(`${name} exports nothing`)
  } catch (error) {
    problems.push(`${name} cannot be imported: ${error instanceof Error ? error.message : error}`)
  }
}

// The emitted types, as a strict project sees them that does not skip checking libraries.
const strict = ['--noEmit', '--ignoreConfig', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext']
const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable', '--types', 'node']
const files = readDoors().map(({ source }) => source.replace(/^src/, 'dist').replace(/\.ts$/, '.d.ts'))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const types = spawnSync(process.execPath, [tsc, ...strict, ...target, ...files], {
  cwd: root,
  encoding: 'utf8',
})
if (types.status !== 0) problems.push(`the emitted types do not compile:\n${types.stdout}`)

for (const problem of problems) console.error(`✗ ${problem}`)
if (problems.length > 0) process.exitCode = 1
else console.log('The package is well formed and every door opens.')
