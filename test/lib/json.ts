import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect } from 'vitest'
import { createJsonReader } from '../../src/lib/partial-json.ts'

/** Vitest takes a key named `__proto__` for the prototype. */
export function expectSame(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).toStrictEqual(expected)
}

export function read(pieces: readonly string[]) {
  const reader = createJsonReader()
  for (const piece of pieces) reader.push(piece)
  return reader.end()
}

/** JSON in its many spellings: spaces, escapes, keys that mean something to objects, keys that come twice. */
export const anyJson = fc
  .tuple(
    fc.json({ depthSize: 'medium', stringUnit: 'binary' }),
    fc.constantFrom(undefined, 1, '\t', ' \n'),
    fc.boolean(),
  )
  .map(([text, indent, escaped]) => {
    const spelt = JSON.stringify(JSON.parse(text), null, indent)
    return escaped ? spelt.replace(/[^ -~\s]/g, (unit) => `\\u${hex(unit)}`) : spelt
  })
const hex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0')
