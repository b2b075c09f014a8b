import { analyze } from '@typescript-eslint/scope-manager'
import { type Comment, type Node, type Program, parseSync, visitorKeys } from 'oxc-parser'

type ScopeInput = Parameters<typeof analyze>[0]

/** A file as the rules see it. */
export interface Source {
  /** From the project's root, with `/`. */
  path: string
  text: string
  program: Program
  comments: readonly Comment[]
  /** Its room under src/, `door` for the files in src/ itself, null elsewhere. */
  room: string | null
  lineOf(offset: number): number
}

export interface Import {
  specifier: string
  line: number
}

/** A name that no scope of the file declares, with how it is used: `Date.now`, `new Date()`, `new Date(…)`, `fetch`. */
export interface GlobalUse {
  name: string
  line: number
}

export function parseSource(path: string, text: string): Source {
  const { program, comments, errors } = parseSync(path, text, {
    range: true,
    preserveParens: false,
    sourceType: 'module',
  })
  const [error] = errors
  if (error) throw new Error(`${path}: ${error.message}`)
  const inSrc = /^src\/(?:([^/]+)\/)?[^/]/.exec(path)
  return {
    path,
    text,
    program,
    comments,
    room: inSrc ? (inSrc[1] ?? 'door') : null,
    lineOf: (offset) => text.slice(0, offset).split('\n').length,
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** Every node with its ancestors, the nearest last. */
export function* walk(node: Node, ancestors: readonly Node[] = []): Generator<[Node, readonly Node[]]> {
  yield [node, ancestors]
  const inside = [...ancestors, node]
  for (const key of visitorKeys[node.type] ?? []) {
    const child: unknown = Reflect.get(node, key)
    for (const item of Array.isArray(child) ? child : [child]) if (isNode(item)) yield* walk(item, inside)
  }
}

/** The text of a string literal, or of a template without holes. */
function literal(node: Node | null | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? null
  return null
}

/** Every import, re-export, dynamic import and type import. One whose name is computed has the specifier `(computed)`. */
export function importsOf(source: Source): Import[] {
  const found: Import[] = []
  for (const [node] of walk(source.program)) {
    const add = (from: Node | null | undefined) =>
      found.push({ specifier: literal(from) ?? '(computed)', line: source.lineOf(node.start) })
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') add(node.source)
    else if (node.type === 'ExportNamedDeclaration' && node.source) add(node.source)
    else if (node.type === 'ImportExpression' || node.type === 'TSImportType') add(node.source)
  }
  return found
}

const scopesOf = (program: Program) =>
  // Two packages' names for the same tree.
  analyze(program as unknown as ScopeInput, { sourceType: 'module', lib: [] })

function describeUse(name: string, node: Node, parent: Node | undefined): string {
  if (parent?.type === 'NewExpression' && parent.callee === node) {
    return parent.arguments.length === 0 ? `new ${name}()` : `new ${name}(…)`
  }
  if (parent?.type !== 'MemberExpression' || parent.object !== node) return name
  const { computed, property } = parent
  const key = computed ? literal(property) : property.type === 'Identifier' ? property.name : null
  return key === null ? `${name}[…]` : `${name}.${key}`
}

/** What the file takes from the world around it. Types are not uses. */
export function globalsOf(source: Source): GlobalUse[] {
  const identifiers = new Map<number, [Node, readonly Node[]]>()
  for (const [node, ancestors] of walk(source.program)) {
    if (node.type === 'Identifier') identifiers.set(node.start, [node, ancestors])
  }
  const uses: GlobalUse[] = []
  for (const reference of scopesOf(source.program).globalScope?.through ?? []) {
    const name = String(reference.identifier.name)
    const [start] = reference.identifier.range
    const [node, ancestors] = identifiers.get(start) ?? []
    if (!reference.isValueReference || !node || !ancestors) continue
    if (ancestors.some(({ type }) => type === 'TSTypeQuery')) continue
    uses.push({ name: describeUse(name, node, ancestors.at(-1)), line: source.lineOf(start) })
  }
  return uses
}
