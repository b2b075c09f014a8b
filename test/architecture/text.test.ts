import { expect, test } from 'vitest'
import { projectFiles, readProjectFile } from '../support/files.ts'

/** What must not stand in any file: where it was written, and whose registry it came from. */
const foreign: Readonly<Record<string, RegExp>> = {
  'a path of one machine': /(?<![\w.~-])\/(?:work|tmp|root|home|Users)\/[\w.]/,
  'the host of a registry': /\b(?:registry\.(?:npmjs|yarnpkg)|npm\.pkg\.github|registry\.npmmirror)\.\w+/,
  'a place to fetch a locked package from': /"resolved": "(?:https?|git|file):/,
}

const pictures = /\.(png|jpe?g|gif|webp|ico|woff2?|sqlite)$/

function foreignIn(path: string, text: string): string[] {
  return Object.entries(foreign).flatMap(([what, pattern]) => {
    const found = pattern.exec(text)
    return found ? [`${path}:${text.slice(0, found.index).split('\n').length} has ${what}: ${found[0]}`] : []
  })
}

test('no file says on which machine it was written, or which registry it was installed from', () => {
  const files = [...projectFiles()].filter((path) => !pictures.test(path))
  expect(files).toContain('package-lock.json')
  expect(files.flatMap((path) => foreignIn(path, readProjectFile(path)))).toEqual([])
})

test('such a text is noticed', () => {
  const folders = ['work', 'tmp', 'root', 'home', 'Users'].map((name) => `see "/${name}/x"`)
  const hosts = ['npmjs.org', 'yarnpkg.com'].map((name) => `https://registry.${name}/zod`)
  for (const text of [...folders, ...hosts, `"resolved": "${'https:'}//x.y/z.tgz"`]) {
    expect(foreignIn('a', text), text).toHaveLength(1)
  }
  for (const text of ['src/work/a', 'https://example.com/home/a', './tmp/a', '"resolved": "x"']) {
    expect(foreignIn('a', text), text).toEqual([])
  }
})
