import type { RuntimeHost } from '../chat/runtime-port.ts'
import type { SessionRecords } from '../context/session-records.ts'

/** What is derived from a session, in the chat's own storage. */
export function recordsOf(storage: RuntimeHost['storage'], sessionId: string): SessionRecords {
  // Keys of the storage are unique over all sessions; ids hold no colon.
  const prefix = `${sessionId}:`
  return {
    async read(kind) {
      const records = await storage.records(kind, { sessionId })
      return records.map(({ key, value }) => ({ key: key.slice(prefix.length), value }))
    },
    write: (kind, put, gone = []) =>
      storage.commit([
        ...put.map(({ key, value }) => ({
          type: 'record' as const,
          record: { kind, key: prefix + key, sessionId, value },
        })),
        ...gone.map((key) => ({ type: 'deleteRecord' as const, kind, key: prefix + key })),
      ]),
  }
}
