// The package's doors, read from package.json: each door is one file in src/.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'

/**
 * @typedef {object} Door
 * @property {string} name what a user imports, such as `tidemark/server/sqlite`
 * @property {string} source its file from the project's root, such as `src/server-sqlite.ts`
 */

/** @returns {Door[]} */
export function readDoors() {
  /** @type {{ name: string, exports: Record<string, string | { default: string }> }} */
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    if (typeof target === 'string') return []
    const source = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts')
    return [{ name: manifest.name + path.slice(1), source }]
  })
}

/**
 * What a bundler needs to take the package by its name, as a user does, and get the source.
 * @returns {{ find: RegExp, replacement: string }[]}
 */
export const doorAliases = () =>
  readDoors().map(({ name, source }) => ({ find: new RegExp(`^${name}$`), replacement: join(root, source) }))
