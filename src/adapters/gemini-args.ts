import { type JsonRecord, string } from './json.ts'

/** Writes a call's arguments as JSON text, from leaves that are named by their paths. */
export interface ArgumentsPen {
  /** Where the last leaf stands: keys and places in lists. */
  path: readonly (string | number)[]
  /** Whether that leaf is a string that goes on. */
  inString: boolean
}

/** Names that would reach into every object, where somebody merges arguments carelessly. */
const UNSAFE = /^(__proto__|constructor|prototype)$/

const SEGMENT = /\.([^.[\]]+)|\[(\d+)\]|\[(['"])(.*?)\3\]/g

/** `$.items[0]['name']` as keys and places. */
const pathOf = (jsonPath: string): (string | number)[] =>
  [...jsonPath.matchAll(SEGMENT)].map(([, key, place, , quoted]) =>
    place === undefined ? (key ?? quoted ?? '') : Number(place),
  )

const isKey = (segment: string | number | undefined): segment is string => typeof segment === 'string'

/** From the innermost to the outermost, what closes the objects and lists below a depth. */
const closers = (path: ArgumentsPen['path'], depth: number): string =>
  path
    .slice(depth)
    .map((segment) => (isKey(segment) ? '}' : ']'))
    .reverse()
    .join('')

/**
 * The text that a piece of a leaf adds: `{ jsonPath, stringValue | numberValue | boolValue | nullValue, willContinue }`.
 * Leaves come in the order in which they stand in the arguments.
 */
export function writeLeaf(pen: ArgumentsPen, leaf: JsonRecord): string {
  const path = pathOf(string(leaf.jsonPath))
  if (path.length === 0 || path.some((segment) => isKey(segment) && UNSAFE.test(segment))) return ''
  const goesOn = pen.inString && path.join('\n') === pen.path.join('\n')
  const before = goesOn ? '' : moveTo(pen, path)
  const { stringValue, numberValue, boolValue } = leaf
  if (typeof stringValue !== 'string') return before + JSON.stringify(numberValue ?? boolValue ?? null)
  pen.inString = leaf.willContinue === true
  return `${before}${goesOn ? '' : '"'}${JSON.stringify(stringValue).slice(1, -1)}${pen.inString ? '' : '"'}`
}

/** Closes what the next leaf does not stand in, and opens what it does. */
function moveTo(pen: ArgumentsPen, path: ArgumentsPen['path']): string {
  const { path: from } = pen
  const apart = path.findIndex((segment, depth) => segment !== from[depth])
  const depth = Math.max(0, Math.min(apart < 0 ? path.length : apart, path.length - 1, from.length - 1))
  let text = pen.inString ? '"' : ''
  if (from.length > 0) text += `${closers(from, depth + 1)},`
  for (const [at, segment] of path.entries()) {
    if (at > depth || from.length === 0) text += isKey(segment) ? '{' : '['
    if (at >= depth && isKey(segment)) text += `${JSON.stringify(segment)}:`
  }
  pen.path = path
  pen.inString = false
  return text
}

/** What is missing of the text after its last leaf. */
export const closeArguments = ({ path, inString }: ArgumentsPen): string =>
  (inString ? '"' : '') + closers(path, 0)
