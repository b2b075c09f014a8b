import type { RuntimeHost } from '../chat/runtime-port.ts'
import type { SessionRecords } from '../context/session-records.ts'

/**
 * What is derived from a session, or, with null, from none in particular, in the chat's own storage.
 * @param isGone whether the session was deleted: then nothing is kept any more
 */
export function recordsOf(
  storage: RuntimeHost['storage'],
  sessionId: string | null,
  isGone: () => boolean = () => false,
): SessionRecords {
  // Keys of the storage are unique over all sessions; ids hold no colon.
  const prefix = sessionId === null ? '' : `${sessionId}:`
  return {
    async read(kind) {
      const records = await storage.records(kind, sessionId === null ? {} : { sessionId })
      return records.map(({ key, value }) => ({ key: key.slice(prefix.length), value }))
    },
    async write(kind, put, gone = []) {
      if (isGone()) return
      await storage.commit([
        ...put.map(({ key, value }) => ({
          type: 'record' as const,
          record: { kind, key: prefix + key, sessionId, value },
        })),
        ...gone.map((key) => ({ type: 'deleteRecord' as const, kind, key: prefix + key })),
      ])
    },
  }
}
