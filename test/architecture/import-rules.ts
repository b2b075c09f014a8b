import { posix } from 'node:path'
import { readDoors } from '../../scripts/doors.mjs'
import { chatPorts, rooms, zodExceptions } from './rooms.ts'
import type { Rule } from './rule.ts'
import { type Import, importsOf, type Source } from './source.ts'

const inSrc = ({ room }: Source): boolean => room !== null
const isRelative = (specifier: string): boolean => /^\.\.?\//.test(specifier)
const at = (source: Source, line: number, problem: string): string => `${source.path}:${line} ${problem}`

function roomOf(path: string): string {
  const [, folder, rest] = path.split('/')
  return rest === undefined ? 'door' : (folder ?? 'door')
}

function edgeProblem(source: Source, { specifier }: Import): string | null {
  const target = posix.join(posix.dirname(source.path), specifier)
  if (!target.startsWith('src/')) return `reaches out of src/ to ${specifier}`
  const to = roomOf(target)
  if (source.room === 'door') return to === 'door' ? `is a door that opens on a door, ${target}` : null
  if (to === source.room) return null
  const sees = rooms[source.room ?? '']?.sees ?? []
  if (sees.includes(to) || (sees.includes(`${to} (ports)`) && chatPorts.includes(target))) return null
  return `${source.room} may not import ${target}`
}

function packageProblem(source: Source, { specifier }: Import): string | null {
  if (source.room === 'door') return `a door re-exports rooms, not ${specifier}`
  const packages = rooms[source.room ?? '']?.packages ?? []
  const allowed = packages.some(
    (name) => name === specifier || (name === 'node:*' && specifier.startsWith('node:')),
  )
  return allowed ? null : `${source.room} may not import the package ${specifier}`
}

const edges: Rule = {
  says: 'a room imports only the rooms that the table lets it see',
  check: (source) =>
    !inSrc(source)
      ? []
      : importsOf(source)
          .filter(({ specifier }) => isRelative(specifier))
          .flatMap((found) => {
            const problem = edgeProblem(source, found)
            return problem ? [at(source, found.line, problem)] : []
          }),
  bad: [
    ['src/lib/a.ts', "import { Message } from '../message/schema.ts'"],
    ['src/server/a.ts', "import type { ChatStorage } from '../chat/ports.ts'"],
    ['src/runtime/a.ts', "import { createChat } from '../chat/chat.ts'"],
    ['src/chat/a.ts', "import { react } from '../bindings/react.ts'"],
    ['src/chat/a.ts', "import { x } from '../index.ts'"],
    ['src/react.ts', "export { x } from './index.ts'"],
    ['src/message/a.ts', "export const load = () => import('../storage/dexie.ts')"],
    ['src/message/a.ts', "export type A = import('../chat/types.ts').Chat"],
    ['src/adapters/a.ts', "import { x } from '../../demo/x.ts'"],
  ],
  good: [
    ['src/runtime/a.ts', "import type { Runtime } from '../chat/runtime-port.ts'"],
    ['src/turn/a.ts', "import { b } from './b.ts'\nimport { Id } from '../message/schema.ts'"],
    ['src/testing/a.ts', "import { createChat } from '../chat/chat.ts'"],
    ['src/index.ts', "export { createChat } from './chat/chat.ts'"],
  ],
}

const packages: Rule = {
  says: 'a room imports only the packages on its list, and provider SDKs are on none',
  check: (source) =>
    !inSrc(source)
      ? []
      : importsOf(source)
          .filter(({ specifier }) => !isRelative(specifier))
          .flatMap((found) => {
            const problem = packageProblem(source, found)
            return problem ? [at(source, found.line, problem)] : []
          }),
  bad: [
    ['src/adapters/a.ts', "import OpenAI from 'openai'"],
    ['src/runtime/a.ts', "import Anthropic from '@anthropic-ai/sdk'"],
    ['src/chat/a.ts', "import { readFileSync } from 'node:fs'"],
    ['src/message/a.ts', "import * as z from 'zod'"],
    ['src/chat/a.ts', "import Dexie from 'dexie'"],
    ['src/runtime/a.ts', 'export const load = (name: string) => import(name)'],
    ['src/dexie.ts', "export { Dexie } from 'dexie'"],
  ],
  good: [
    ['src/storage/a.ts', "import Dexie from 'dexie'"],
    ['src/server/a.ts', "import { createHash } from 'node:crypto'"],
  ],
}

const isAllowed = ({ path }: Source, specifier: string): boolean =>
  zodExceptions.some(({ file, allows }) => file === path && allows.includes(specifier))

const zodSpelling: Rule = {
  says: "zod is imported as import * as z from 'zod/mini' everywhere, the demo and the tests included",
  check: (source) => [
    ...importsOf(source)
      .filter(({ specifier }) => /^zod(?!\/mini$)(\/|$)/.test(specifier))
      .filter(({ specifier }) => !isAllowed(source, specifier))
      .map(({ specifier, line }) => at(source, line, `imports ${specifier}, not zod/mini`)),
    ...source.program.body.flatMap((node) =>
      node.type === 'ImportDeclaration' &&
      node.source.value === 'zod/mini' &&
      !(node.specifiers[0]?.type === 'ImportNamespaceSpecifier' && node.specifiers[0].local.name === 'z')
        ? [at(source, source.lineOf(node.start), 'imports zod/mini by another spelling')]
        : [],
    ),
  ],
  bad: [
    ['demo/a.ts', "import { z } from 'zod'"],
    ['src/message/a.ts', "import { z } from 'zod/mini'"],
    ['src/message/a.ts', "import * as zod from 'zod/mini'"],
    ['test/a.ts', "import * as z from 'zod/v4'"],
  ],
  good: [['src/message/a.ts', "import * as z from 'zod/mini'"]],
}

/** Names that a file imports and hands on, which makes it a second place where they live. */
function handedOn({ program }: Source): number[] {
  const imported = new Set<string>()
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') for (const { local } of node.specifiers) imported.add(local.name)
  }
  return program.body.flatMap((node) => {
    if (node.type === 'ExportAllDeclaration') return [node.start]
    if (node.type !== 'ExportNamedDeclaration') return []
    const again = node.specifiers.some(({ local }) => local.type === 'Identifier' && imported.has(local.name))
    return node.source || again ? [node.start] : []
  })
}

const noBarrels: Rule = {
  says: 'no file inside a room hands on what another file defines',
  check: (source) =>
    source.room === null || source.room === 'door'
      ? []
      : handedOn(source).map((start) =>
          at(source, source.lineOf(start), 're-exports: import the defining file'),
        ),
  bad: [
    ['src/chat/index.ts', "export * from './chat.ts'"],
    ['src/chat/a.ts', "export { createChat } from './chat.ts'"],
    ['src/chat/a.ts', "export type { Chat } from './types.ts'"],
    ['src/chat/a.ts', "import { b } from './b.ts'\nexport { b }"],
  ],
  good: [
    ['src/chat/a.ts', 'const b = 1\nexport { b }'],
    ['src/index.ts', "export { b } from './chat/b.ts'"],
  ],
}

const doorsOnlyOpen: Rule = {
  says: 'a door is a file of named re-exports, and every file in src/ itself is a door of the package',
  check: (source) => {
    if (source.room !== 'door') return []
    const known = readDoors().some((door) => door.source === source.path)
    return [
      ...(known ? [] : [at(source, 1, 'is no door in package.json')]),
      ...source.program.body
        .filter((node) => !(node.type === 'ExportNamedDeclaration' && node.source))
        .map((node) => at(source, source.lineOf(node.start), 'is more than a named re-export')),
    ]
  },
  bad: [
    ['src/index.ts', "export * from './chat/chat.ts'"],
    ['src/index.ts', 'export const version = 1'],
    ['src/other.ts', "export { a } from './chat/a.ts'"],
  ],
  good: [['src/dexie.ts', "export { dexieStorage } from './storage/dexie.ts'"]],
}

const demoByName: Rule = {
  says: 'the demo imports the package by the names of its doors, as a user does',
  check: (source) =>
    !source.path.startsWith('demo/')
      ? []
      : importsOf(source)
          .filter(({ specifier }) => /^(\.\.\/)+src\//.test(specifier))
          .map(({ specifier, line }) => at(source, line, `imports ${specifier}`)),
  bad: [['demo/app.tsx', "import { createChat } from '../src/index.ts'"]],
  good: [['demo/app.tsx', "import { createChat } from 'tidemark'\nimport { a } from './src/a.ts'"]],
}

export const importRules: readonly Rule[] = [
  edges,
  packages,
  zodSpelling,
  noBarrels,
  doorsOnlyOpen,
  demoByName,
]
