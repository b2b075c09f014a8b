import { createMemory, type Memory } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { fillMemory, type MemorySizes, scriptedEmbed } from '../memory.ts'

const NAME = 'recall'

/** Milliseconds: until the nearest five were found for the first time, and what the same rows take by IndexedDB alone. */
export interface FirstSearch {
  first: number
  raw: number
}

const open = (dims: number): Memory =>
  createMemory({ embed: scriptedEmbed(dims), storage: dexieStorage(NAME), user: 'ann' })

/** Stores facts and their vectors, to be looked for by a page that knows nothing of them yet. */
export const fillRecall = (sizes: MemorySizes): Promise<Memory> => fillMemory(open(sizes.dims), sizes)

const answer = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** All rows, one after the other, as they are needed. */
async function readRaw(): Promise<number> {
  const start = performance.now()
  const db = await answer(indexedDB.open(NAME))
  const records = db.transaction('records').objectStore('records')
  for (const key of await answer(records.getAllKeys())) await answer<unknown>(records.get(key))
  const took = performance.now() - start
  db.close()
  return took
}

export async function measureFirstSearch({ dims }: Pick<MemorySizes, 'dims'>): Promise<FirstSearch> {
  const start = performance.now()
  const found = await open(dims).search('anything', { minScore: -1 })
  const first = performance.now() - start
  if (found.length !== 5) throw new Error(`expected five facts, found ${found.length}`)
  return { first, raw: await readRaw() }
}
