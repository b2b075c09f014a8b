import { isRecord } from '../protocol/lenient.ts'
import type { JsonRecord } from './json.ts'

/** Two records as one: records and lists that both have are joined, anything else is as the second has it. */
export function joinJson(one: JsonRecord, other: JsonRecord): JsonRecord {
  const joined = Object.entries(other).map(([key, value]): [string, unknown] => {
    const before = Object.hasOwn(one, key) ? one[key] : undefined
    if (isRecord(before) && isRecord(value)) return [key, joinJson(before, value)]
    return [key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value]
  })
  // As entries, since a key from elsewhere may be `__proto__`.
  return Object.fromEntries([...Object.entries(one), ...joined])
}
