import type {
  ChatStorage,
  JournalEntry,
  OutboxRow,
  StoredMessage,
  StoredRecord,
  StoredSession,
} from '../chat/ports.ts'
import type { AssistantMessage, UserMessage } from '../message/schema.ts'

/** Rows for tests of storages: plain ones, of which a test names only what it is about. */

export const sampleSession = (
  id: string,
  fields: Partial<StoredSession> = {},
  updatedAt = 1,
): StoredSession => ({
  session: { id, createdAt: 1, updatedAt, metadata: {}, headId: null, v: 1 },
  eventId: null,
  rev: 0,
  tidemark: null,
  nextLocal: 0,
  complete: true,
  epoch: 0,
  ...fields,
})

export const sampleUser = (
  id: string,
  sessionId: string,
  position: number,
  fields: Partial<UserMessage> = {},
): StoredMessage => ({
  message: {
    id,
    sessionId,
    parentId: null,
    role: 'user',
    status: 'completed',
    content: [{ type: 'text', text: `Message ${id}` }],
    createdAt: 1,
    updatedAt: 1,
    v: 1,
    ...fields,
  },
  position,
})

/** An answer that is being written. */
export const sampleAnswer = (
  id: string,
  sessionId: string,
  position: number,
  fields: Partial<AssistantMessage> = {},
): StoredMessage => ({
  message: {
    id,
    sessionId,
    parentId: null,
    role: 'assistant',
    status: 'streaming',
    content: [],
    createdAt: 1,
    updatedAt: 1,
    v: 1,
    ...fields,
  },
  position,
})

export const samplePiece = (
  messageId: string,
  sessionId: string,
  offset: number,
  text: string,
): JournalEntry => ({
  sessionId,
  messageId,
  index: 0,
  offset,
  text,
})

export const sampleOutbox = (
  id: string,
  sessionId: string,
  position: number,
  fields: Partial<OutboxRow> = {},
): OutboxRow => ({
  id,
  sessionId,
  account: 'default',
  position,
  request: {
    type: 'send',
    body: { id, runId: `run-${id}`.slice(0, 64), parentId: null, content: [{ type: 'text', text: 'Ahoy' }] },
  },
  state: 'waiting',
  attempts: 0,
  nextAttemptAt: 0,
  claim: null,
  ...fields,
})

export const sampleRecord = (
  kind: string,
  key: string,
  sessionId: string | null,
  value: unknown,
): StoredRecord => ({
  kind,
  key,
  sessionId,
  value,
})

/** All that a storage knows of some sessions and kinds of records: what two moments are compared by. */
export async function everything(
  storage: ChatStorage,
  sessionIds: readonly string[],
  kinds: readonly string[],
) {
  return {
    start: await storage.start({ sessions: 100 }),
    windows: await Promise.all(sessionIds.map((id) => storage.window(id, { limit: 10_000 }))),
    records: await Promise.all(kinds.map((kind) => storage.records(kind))),
  }
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
