import type { Node, VariableDeclarator } from 'oxc-parser'
import { classes, lengthExceptions, limits } from './rooms.ts'
import type { Rule } from './rule.ts'
import { type Source, walk } from './source.ts'

type Visit = (node: Node, ancestors: readonly Node[]) => string | null

/** A rule's check from what it says of one node: null, or what is wrong. */
const eachNode =
  (applies: (source: Source) => boolean, visit: (source: Source) => Visit) =>
  (source: Source): string[] => {
    if (!applies(source)) return []
    const judge = visit(source)
    return [...walk(source.program)].flatMap(([node, ancestors]) => {
      const problem = judge(node, ancestors)
      return problem ? [`${source.path}:${source.lineOf(node.start)} ${problem}`] : []
    })
  }

const anywhere = (): boolean => true
const inSrc = ({ room }: Source): boolean => room !== null
const inHouse = ({ room }: Source): boolean => room !== null && room !== 'door'
const lines = (count: number): string => 'x\n'.repeat(count)
const longFunction = (count: number): string => `function long() {\n${lines(count - 2)}}\n`

const fileLength: Rule = {
  says: `a file has at most ${limits.fileLines} lines`,
  check({ path, text }) {
    const count = text.replace(/\n$/, '').split('\n').length
    return count > limits.fileLines ? [`${path} has ${count} lines`] : []
  },
  bad: [['src/chat/a.ts', lines(limits.fileLines + 1)]],
  good: [['src/chat/a.ts', lines(limits.fileLines)]],
}

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/** The name by which one would call a function, for the message and the exceptions. */
function nameOf(node: Node, parent: Node | undefined): string {
  if ('id' in node && node.id && 'name' in node.id) return node.id.name
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') return parent.id.name
  if (parent && 'key' in parent && parent.key && 'name' in parent.key) return String(parent.key.name)
  return '(anonymous)'
}

/** A test file groups its tests in the body of `describe`, which is no function to read in one go. */
function isDescribeBody(path: string, parent: Node | undefined): boolean {
  if (!path.startsWith('test/') || parent?.type !== 'CallExpression') return false
  const words = [...walk(parent.callee)].map(([node]) => (node.type === 'Identifier' ? node.name : ''))
  return words.includes('describe')
}

const functionLength: Rule = {
  says: `a function has at most ${limits.functionLines} lines`,
  check: eachNode(anywhere, ({ path, lineOf }) => (node, ancestors) => {
    const parent = ancestors.at(-1)
    if (!functions.has(node.type) || isDescribeBody(path, parent)) return null
    const count = lineOf(node.end) - lineOf(node.start) + 1
    const name = nameOf(node, parent)
    if (count <= limits.functionLines) return null
    if (lengthExceptions.some(({ file, allows }) => file === path && allows.includes(name))) return null
    return `${name} has ${count} lines`
  }),
  bad: [
    ['src/chat/a.ts', longFunction(limits.functionLines + 1)],
    ['src/chat/a.ts', `const o = { long: () => {\n${lines(limits.functionLines)}} }`],
    ['demo/a.ts', `export class A { long() {\n${lines(limits.functionLines)}} }`],
    ['test/a.test.ts', `test('x', () => {\n${lines(limits.functionLines)}})`],
  ],
  good: [
    ['src/chat/a.ts', longFunction(limits.functionLines)],
    ['test/a.test.ts', `describe.each([1])('x', () => {\n${lines(limits.functionLines)}})`],
  ],
}

const noAny: Rule = {
  says: 'nothing is any, and no check is switched off by a comment',
  check: (source) => [
    ...eachNode(anywhere, () => (node) => (node.type === 'TSAnyKeyword' ? 'says any' : null))(source),
    ...source.comments
      .filter(({ value }) => /@ts-(ignore|nocheck)/.test(value) || /^\s*eslint-disable/.test(value))
      .map(({ start }) => `${source.path}:${source.lineOf(start)} switches a check off`),
  ],
  bad: [
    ['src/chat/a.ts', 'export const a = (x: any) => x'],
    ['test/a.ts', 'const x = y as any'],
    ['demo/a.ts', '// @ts-ignore\nfoo()'],
  ],
  good: [['src/chat/a.ts', '// any\nexport const any = (x: unknown) => [x].some(Boolean)']],
}

const isJson = (node: Node): boolean => {
  const inner = node.type === 'AwaitExpression' ? node.argument : node
  if (inner.type !== 'CallExpression' || inner.callee.type !== 'MemberExpression') return false
  const { object, property } = inner.callee
  if (property.type !== 'Identifier') return false
  return (
    property.name === 'json' ||
    (property.name === 'parse' && object.type === 'Identifier' && object.name === 'JSON')
  )
}

const noCastJson: Rule = {
  says: 'parsed JSON is checked by a schema, not by a cast',
  check: eachNode(inSrc, () => (node) => {
    if (node.type === 'TSAsExpression' && isJson(node.expression)) return 'casts parsed JSON'
    const typed =
      node.type === 'VariableDeclarator' && node.init && isJson(node.init) && node.id.typeAnnotation
    if (!typed) return null
    return typed.typeAnnotation.type === 'TSUnknownKeyword' ? null : 'gives parsed JSON a type'
  }),
  bad: [
    ['src/runtime/a.ts', 'const m = JSON.parse(text) as Message'],
    ['src/runtime/a.ts', 'const f = async () => { const m = (await response.json()) as Message }'],
    ['src/runtime/a.ts', 'const m: Message = JSON.parse(text)'],
  ],
  good: [['src/runtime/a.ts', 'const m: unknown = JSON.parse(text)\nconst n = Message.parse(m)']],
}

const isEmptyCollection = (node: Node | null): boolean =>
  (node?.type === 'NewExpression' &&
    node.callee.type === 'Identifier' &&
    /^(Weak)?(Map|Set)$/.test(node.callee.name) &&
    node.arguments.length === 0) ||
  (node?.type === 'ArrayExpression' && node.elements.length === 0) ||
  (node?.type === 'ObjectExpression' && node.properties.length === 0)

/** An empty collection that its type forbids to fill is a constant. */
function isFillable({ id, init }: VariableDeclarator): boolean {
  const type = id.typeAnnotation?.typeAnnotation
  const readonly =
    (type?.type === 'TSTypeOperator' && type.operator === 'readonly') ||
    (type?.type === 'TSTypeReference' &&
      type.typeName.type === 'Identifier' &&
      /^Readonly/.test(type.typeName.name))
  return isEmptyCollection(init) && !readonly
}

const noModuleState: Rule = {
  says: 'no module keeps state: no let, no collection that starts empty',
  check: (source) =>
    !inHouse(source)
      ? []
      : source.program.body.flatMap((statement) => {
          const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
          if (node?.type !== 'VariableDeclaration' || node.declare) return []
          const mutable = node.kind !== 'const' || node.declarations.some(isFillable)
          return mutable ? [`${source.path}:${source.lineOf(node.start)} keeps state in the module`] : []
        }),
  bad: [
    ['src/chat/a.ts', 'let count = 0'],
    ['src/chat/a.ts', 'export let count = 0'],
    ['src/chat/a.ts', 'const cache = new Map()'],
    ['src/chat/a.ts', 'const seen: string[] = []'],
  ],
  good: [
    [
      'src/chat/a.ts',
      'const known = new Set(["a"])\nexport function f() { let n = 0; return n + known.size }',
    ],
  ],
}

const fewClasses: Rule = {
  says: 'data is plain: no class but those on the list',
  check: eachNode(inHouse, ({ path }) => (node) => {
    if (node.type !== 'ClassDeclaration' && node.type !== 'ClassExpression') return null
    const name = node.id?.name ?? '(anonymous)'
    return classes.some(({ file, allows }) => file === path && allows.includes(name))
      ? null
      : `declares class ${name}`
  }),
  bad: [
    ['src/chat/a.ts', 'export class Outbox {}'],
    ['src/lib/errors.ts', 'export class OtherError extends Error {}'],
  ],
  good: [['src/lib/errors.ts', 'export class TidemarkError extends Error {}']],
}

const emptyWord = /(Manager|Helper|Helpers|Util|Utils|Impl)$|^(process[A-Z]|handle[A-Z])/

const plainNames: Rule = {
  says: 'nothing is named Manager, Helper, Util, Impl, process… or handle…',
  check: eachNode(inHouse, ({ path }) => (node) => {
    if (node.type === 'Program') {
      const file = path.replace(/^.*\//, '').replace(/\..*$/, '')
      return /(^|-)(manager|helpers?|utils?|impl|base)$/.test(file) ? 'has an empty name' : null
    }
    const id = 'id' in node ? node.id : null
    const name = id && typeof id === 'object' && 'name' in id ? String(id.name) : ''
    return emptyWord.test(name) ? `declares ${name}` : null
  }),
  bad: [
    ['src/chat/utils.ts', ''],
    ['src/chat/a.ts', 'export interface OutboxManager {}'],
    ['src/chat/a.ts', 'const handleEvent = () => {}'],
  ],
  good: [['src/server/a.ts', 'export function createChatHandler() {}\nconst processed = 1']],
}

export const shapeRules: readonly Rule[] = [
  fileLength,
  functionLength,
  noAny,
  noCastJson,
  noModuleState,
  fewClasses,
  plainNames,
]
