import { describe, expect, test } from 'vitest'
import { projectFiles, readProjectFile } from '../support/files.ts'
import { cyclesOf } from './cycles.ts'
import { importRules } from './import-rules.ts'
import { chatPorts, lengthExceptions, pureFiles, rooms, worldExceptions, zodExceptions } from './rooms.ts'
import { shapeRules } from './shape-rules.ts'
import { parseSource } from './source.ts'
import { worldRules } from './world-rules.ts'

const files = [...projectFiles()]
const code = files
  .filter((path) => /\.(m?ts|tsx|mjs)$/.test(path))
  .map((path) => parseSource(path, readProjectFile(path)))

test('the rules look at the whole project', () => {
  const paths = new Set(code.map(({ path }) => path))
  for (const path of ['src/index.ts', 'src/lib/env.ts', 'vite.config.ts', 'scripts/test.mjs']) {
    expect(paths).toContain(path)
  }
})

test('every folder of src/ is a room of the table', () => {
  const found = new Set(code.map(({ room }) => room).filter((room) => room !== null && room !== 'door'))
  expect([...found].filter((room) => !(room && room in rooms))).toEqual([])
})

test('the table names no file that is gone', () => {
  const exceptions = [...worldExceptions, ...lengthExceptions, ...zodExceptions].map(({ file }) => file)
  const named = [...chatPorts, ...exceptions, ...pureFiles]
  expect(named.filter((path) => !files.includes(path))).toEqual([])
})

describe.each([...importRules, ...worldRules, ...shapeRules])('$says', ({ check, bad, good }) => {
  test('is so in every file', () => {
    expect(code.flatMap((source) => check(source))).toEqual([])
  })
  test('is noticed where it is not so', () => {
    expect(bad.filter(([path, text]) => check(parseSource(path, text)).length === 0)).toEqual([])
  })
  test('does not object to what only looks like it', () => {
    expect(good.flatMap(([path, text]) => check(parseSource(path, text)))).toEqual([])
  })
})

describe('no two files of src/ need each other', () => {
  test('in the whole house', () => {
    expect(cyclesOf(code.filter(({ room }) => room !== null))).toEqual([])
  })
  test('a cycle is noticed, one of types is none', () => {
    const a = parseSource('src/chat/a.ts', "import { b } from './b.ts'\nexport const a = b")
    const b = parseSource('src/chat/b.ts', "import { a } from './a.ts'\nexport const b = () => a")
    const types = parseSource('src/chat/b.ts', "import type { A } from './a.ts'\nexport const b = 1")
    expect(cyclesOf([a, b])).toEqual(['src/chat/a.ts → src/chat/b.ts → src/chat/a.ts'])
    expect(cyclesOf([a, types])).toEqual([])
  })
})
