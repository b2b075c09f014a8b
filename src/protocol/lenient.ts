/** Fields in which null says something; everywhere else null is absent. */
const NULLABLE: ReadonlySet<string> = new Set(['parentId', 'headId', 'eventId'])
/** Values that are somebody else's: kept as they are. `data` is what came of a call, `schema` what an answer has to be. */
const OPAQUE: ReadonlySet<string> = new Set([
  'arguments',
  'data',
  'details',
  'metadata',
  'raw',
  'schema',
  'usageRaw',
])
/** Deeper than any message of ours. */
const MAX_DEPTH = 32
/** Deeper than anything that can be compared, cloned and stored everywhere. */
const MAX_OPAQUE_DEPTH = 256

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function assertDepth(value: unknown, max: number, depth = 0): void {
  if (depth > max) throw new RangeError(`nested deeper than ${max} levels`)
  if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) assertDepth(item, max, depth + 1)
}

/** Plain JSON without its nulls. Throws `RangeError` where it is nested deeper than anything we write. */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isRecord(value)) return value
  const clean: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    if (item === null && !NULLABLE.has(key)) continue
    const opaque = OPAQUE.has(key)
    if (opaque) assertDepth(item, MAX_OPAQUE_DEPTH)
    clean.push([key, opaque ? item : withoutNulls(item, depth + 1)])
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
