import type { Guard } from '../chat/ports.ts'
import { TidemarkError } from '../lib/errors.ts'

type Watch<T extends Guard['type']> = (guard: Extract<Guard, { type: T }>) => {
  table: 'sessions' | 'messages' | 'outbox' | 'records'
  id: string | [kind: string, key: string]
  /** Where in the row the guarded value stands; empty: the row itself. */
  path: string
  expected: unknown
}

const WATCHES: { readonly [T in Guard['type']]: Watch<T> } = {
  rev: ({ messageId, rev }) => ({
    table: 'messages',
    id: messageId,
    path: 'message.rev',
    // A message without a revision and no message at all are the same to this guard.
    expected: rev ?? undefined,
  }),
  claim: ({ outboxId, claim }) => ({ table: 'outbox', id: outboxId, path: 'claim', expected: claim }),
  epoch: ({ sessionId, epoch }) => ({ table: 'sessions', id: sessionId, path: 'epoch', expected: epoch }),
  record: ({ kind, key, rev }) => ({
    table: 'records',
    id: [kind, key],
    path: 'value.rev',
    expected: rev ?? undefined,
  }),
  absent: ({ table, id }) => ({ table, id, path: '', expected: undefined }),
}

/** What a guard looks at, and what it wants to find there. */
export const watched = <T extends Guard['type']>(guard: Extract<Guard, { type: T }>): ReturnType<Watch<T>> =>
  (WATCHES[guard.type] as Watch<T>)(guard)

/** The value at a dotted path inside an untrusted one; undefined where the way there is broken. */
export function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const key of path ? path.split('.') : []) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = Reflect.get(found, key)
  }
  return found
}

/** Throws `conflict`, naming the guard, unless `row` is as it wants it. */
export function checkGuard(guard: Guard, row: unknown): void {
  const { table, id, path, expected } = watched(guard)
  const found = valueAt(row, path)
  if (found === expected) return
  const asked = path ? `${path} ${expected ?? 'none'}, found ${found ?? 'none'}` : 'no such row, found one'
  throw new TidemarkError('conflict', `Guard "${guard.type}" on ${table} "${id}" failed: expected ${asked}`)
}
