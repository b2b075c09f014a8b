import type { ChatStorage } from '../../src/chat/ports.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { putRaw, settled } from '../storage/dexie-under-test.ts'

/** Mistakes that no random walk can make, since they lie in a real database or in what tabs know of each other. */
export const PLANTED_STORAGE: Readonly<Record<string, (storage: ChatStorage) => ChatStorage>> = {
  'code older than the stored schema writes': (storage) => ({
    ...storage,
    commit: (changes, options) =>
      storage.commit(changes, options).catch(async () => {
        const db = await settled(indexedDB.open(storage.name ?? ''))
        for (const change of changes) if (change.type === 'message') await putRaw(db, 'messages', change.row)
        db.close()
      }),
  }),
  'a row that cannot be read keeps its session shut': (storage) => ({
    ...storage,
    async window(sessionId, query) {
      const window = await storage.window(sessionId, query)
      if (window.unreadable) throw new TidemarkError('storage', `cannot read ${window.unreadable}`)
      return window
    },
  }),
  'a row that cannot be read is not told of': (storage) => ({
    ...storage,
    async window(sessionId, query) {
      const { unreadable: _, ...window } = await storage.window(sessionId, query)
      return window
    },
  }),
  'a claim of another tab is ignored': (storage) => ({
    ...storage,
    async window(sessionId, query) {
      const window = await storage.window(sessionId, query)
      const outbox = window.outbox.map((row) => ({ ...row, claim: null, nextAttemptAt: 0 }))
      return { ...window, outbox }
    },
  }),
}
