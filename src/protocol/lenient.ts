/** Fields in which null says something; everywhere else null is absent. */
const NULLABLE: ReadonlySet<string> = new Set(['parentId', 'headId', 'eventId'])
/** Values that are somebody else's: kept as they are. */
const OPAQUE: ReadonlySet<string> = new Set(['arguments', 'raw', 'details', 'metadata'])
/** Deeper than any message of ours. */
const MAX_DEPTH = 32

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Plain JSON without its nulls. Throws `RangeError` where it is nested deeper than anything we write. */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isRecord(value)) return value
  const clean: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    if (item === null && !NULLABLE.has(key)) continue
    clean.push([key, OPAQUE.has(key) ? item : withoutNulls(item, depth + 1)])
  }
  return Object.fromEntries(clean)
}

/** What a server may leave out of a message, from where the message was found. */
export interface MessageDefaults {
  sessionId: string
  now: number
  /** Whose answer it is, where the message does not say. */
  parentId: string | null
}

/** Content given as a plain text. */
export const asBlocks = (content: unknown): unknown =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/**
 * A message as a minimal server writes it (`{ id, role, content: 'text' }`) in the canonical shape, still unchecked.
 * What is there is kept as it is.
 */
export function completeMessage(value: unknown, { sessionId, now, parentId }: MessageDefaults): unknown {
  if (!isRecord(value)) return value
  return {
    sessionId,
    parentId,
    status: 'completed',
    createdAt: now,
    updatedAt: now,
    v: 1,
    ...value,
    content: asBlocks(value.content),
  }
}

/** An error as a minimal server writes it (`'text'`, `{ message }`) in the canonical shape, still unchecked. */
export function completeError(value: unknown, known: (code: unknown) => boolean): unknown {
  if (typeof value === 'string') return { code: 'server', message: value }
  if (!isRecord(value)) return { code: 'server', message: 'the server said no more' }
  return { message: 'the server said no more', ...value, code: known(value.code) ? value.code : 'server' }
}
