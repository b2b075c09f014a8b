import type { Page } from 'playwright-core'
import type { Message } from 'tidemark'

/** What a page's IndexedDB holds. */
export interface Stored {
  /** In their order. */
  messages: Message[]
  /** How many rows of these are left. */
  journal: number
  outbox: number
}

/** Reads the rows of a database as they are, past the package. */
export async function inDatabase(page: Page, name: string): Promise<Stored> {
  const stored = await page.evaluate(async (database) => {
    const open = indexedDB.open(database)
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      open.onsuccess = () => resolve(open.result)
      open.onerror = () => reject(open.error)
    })
    const all = (store: string) =>
      new Promise<unknown[]>((resolve, reject) => {
        const request = db.transaction(store).objectStore(store).getAll()
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
    const tables = {
      messages: await all('messages'),
      journal: await all('journal'),
      outbox: await all('outbox'),
    }
    db.close()
    return tables
  }, name)
  const rows = stored.messages as { position: number; message: Message }[]
  rows.sort((a, b) => a.position - b.position)
  return {
    messages: rows.map(({ message }) => message),
    journal: stored.journal.length,
    outbox: stored.outbox.length,
  }
}
