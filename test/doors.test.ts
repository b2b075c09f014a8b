import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { root } from '../scripts/bootstrap.mjs'
import { type Door, readDoors } from '../scripts/doors.mjs'
import { parseSource } from './architecture/source.ts'
import { projectFiles, readProjectFile } from './support/files.ts'

const doors = readDoors()

interface Names {
  /** What exists when the program runs; schemas, which are a type of the same name too, included. */
  values: string[]
  types: string[]
}

const nameOf = (node: { type: string }): string => ('name' in node ? String(node.name) : '(not a plain name)')

/** The names a door file re-exports, as it spells them. */
function namesOf({ source }: Door): Names {
  const names: Names = { values: [], types: [] }
  for (const node of parseSource(source, readProjectFile(source)).program.body) {
    if (node.type !== 'ExportNamedDeclaration') continue
    for (const { exported, exportKind } of node.specifiers) {
      const kind = node.exportKind === 'type' || exportKind === 'type' ? 'types' : 'values'
      names[kind].push(nameOf(exported))
    }
  }
  return { values: names.values.sort(), types: names.types.sort() }
}

const list = (door: Door): string => {
  const { values, types } = namesOf(door)
  return [door.name, ...values.map((name) => `  ${name}`), ...types.map((name) => `  type ${name}`)].join(
    '\n',
  )
}

test('the doors open on these names and no others', async () => {
  await expect(`${doors.map(list).join('\n\n')}\n`).toMatchFileSnapshot('doors.txt')
})

describe.each(doors)('$name', (door) => {
  test('has a file, and hands out what it names', async () => {
    expect(existsSync(join(root, door.source))).toBe(true)
    const opened: object = await import(pathToFileURL(join(root, door.source)).href)
    expect(Object.keys(opened).sort()).toEqual(namesOf(door).values)
  })
})

test('every file in src/ itself is a door, and every door is such a file', () => {
  const files = [...projectFiles('src')].filter((path) => path.split('/').length === 2)
  expect(files.sort()).toEqual(doors.map(({ source }) => source).sort())
})

test('the type checker opens the same doors as the package', () => {
  const { compilerOptions }: { compilerOptions: { paths: Record<string, string[]> } } = JSON.parse(
    readProjectFile('tsconfig.json'),
  )
  const paths = Object.fromEntries(doors.map(({ name, source }) => [name, [`./${source}`]]))
  expect(compilerOptions.paths).toEqual(paths)
})

test('types come first at every door', () => {
  const { exports }: { exports: Record<string, string | Record<string, string>> } = JSON.parse(
    readProjectFile('package.json'),
  )
  const targets = Object.values(exports).filter((target) => typeof target === 'object')
  expect(targets.map((target) => Object.keys(target))).toEqual(targets.map(() => ['types', 'default']))
})
