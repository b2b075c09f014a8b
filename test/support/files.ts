import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/bootstrap.mjs'

/** Folders that no one tracks; the plain names in .gitignore, and git's own. */
const untracked = new Set([
  '.git',
  ...readFileSync(join(root, '.gitignore'), 'utf8')
    .split('\n')
    .map((line) => line.trim().replace(/\/$/, '')),
])

/** Every file of the project that is or would be tracked, from its root, with `/`. */
export function* projectFiles(folder = ''): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (untracked.has(entry.name) || entry.name.endsWith('.log')) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* projectFiles(path)
    else if (entry.isFile()) yield path
  }
}

export const readProjectFile = (path: string): string => readFileSync(join(root, path), 'utf8')
