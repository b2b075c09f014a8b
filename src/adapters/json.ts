import { wellFormed } from '../lib/text.ts'
import { isRecord } from '../protocol/lenient.ts'

/** JSON from elsewhere, read with guards: what is absent, null or of another type is empty, never an exception. */
export type JsonRecord = Readonly<Record<string, unknown>>

export const record = (value: unknown): JsonRecord => (isRecord(value) ? value : {})
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const string = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A table's row, by a name from elsewhere, which may also be one that every object has. */
export const rowOf = <Row>(table: Readonly<Record<string, Row>>, name: unknown): Row | undefined =>
  typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined

/** A count of something: a finite number, zero or more. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined

/** The value of a JSON text, wrapped so that `null` and failure can be told apart. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** A value without halves of surrogate pairs in any of its texts and keys. */
export const mended = (value: JsonRecord): Record<string, unknown> =>
  // As entries, since a key from elsewhere may be `__proto__`.
  Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key), mendedValue(item)]))

function mendedValue(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(mendedValue)
  return isRecord(value) ? mended(value) : value
}
