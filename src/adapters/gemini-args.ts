import { type JsonRecord, string } from './json.ts'

/** Writes a call's arguments as JSON text, from leaves that are named by their paths. */
export interface ArgumentsPen {
  /** Where the last leaf stands: keys as JSON has them, `"name":`, and places in lists. */
  path: readonly string[]
  /** Whether that leaf is a string that goes on. */
  inString: boolean
}

/** `.items`, `[0]`, `['name']` */
const SEGMENT = /\[(\d+)\]|\[(['"])(.*?)\2\]|([^$.[\]]+)/g

/** Names that would reach into every object, where somebody merges arguments carelessly. */
const UNSAFE = /"(__proto__|constructor|prototype)":/

const isKey = (segment: string): boolean => segment.startsWith('"')

/** What closes objects and lists, from the innermost to the outermost. */
const closing = (path: readonly string[]): string =>
  path
    .map((segment) => (isKey(segment) ? '}' : ']'))
    .reverse()
    .join('')

/**
 * The text that a piece of a leaf adds: `{ jsonPath, stringValue | numberValue | boolValue | nullValue, willContinue }`.
 * Leaves come in the order in which they stand in the arguments; of any other, the text is not valid JSON.
 */
export function writeLeaf(pen: ArgumentsPen, leaf: JsonRecord): string {
  const { path: from, inString } = pen
  const path = [...string(leaf.jsonPath).matchAll(SEGMENT)].map(
    ([, place, , quoted, name]) => place ?? `${JSON.stringify(quoted ?? name)}:`,
  )
  if (path.length === 0 || UNSAFE.test(path.join())) return ''
  const { stringValue: value, numberValue, boolValue } = leaf
  const goesOn = inString && path.join() === from.join()
  const text = goesOn ? '' : (inString ? '"' : '') + way(from, path)
  pen.path = path
  pen.inString = typeof value === 'string' && leaf.willContinue === true
  if (typeof value !== 'string') return text + JSON.stringify(numberValue ?? boolValue ?? null)
  return `${text}${goesOn ? '' : '"'}${JSON.stringify(value).slice(1, -1)}${pen.inString ? '' : '"'}`
}

/** From one leaf to the next: what is left is closed, what is entered is opened. */
function way(from: readonly string[], path: readonly string[]): string {
  const apart = path.findIndex((segment, depth) => segment !== from[depth])
  const depth = apart < 0 ? path.length - 1 : apart
  const entered = path.slice(depth).map((segment, i) => {
    const opening = isKey(segment) ? '{' : '['
    return (i > 0 || from.length === 0 ? opening : '') + (isKey(segment) ? segment : '')
  })
  return (from.length > 0 ? `${closing(from.slice(depth + 1))},` : '') + entered.join('')
}

/** What is missing of the text after its last leaf. */
export const endOfArguments = ({ path, inString }: ArgumentsPen): string =>
  (inString ? '"' : '') + closing(path)
