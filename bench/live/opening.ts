import { type Change, createChat, type Platform, remote } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { seen } from '../../test/support/seen.ts'
import { type Case, measure } from '../measure.ts'
import { openWire, runOf, SESSION_ID } from './wire.ts'

/** Messages that a session shows at first. */
const NEWEST = 50

/** So many messages are stored in one transaction. */
const BATCH = 1_000

const nameOf = (count: number): string => `opening-${count}`

/** Stores a session of so many messages. */
async function fill(count: number): Promise<void> {
  const storage = dexieStorage(nameOf(count))
  for (let from = 0; from < count; from += BATCH) {
    const changes: Change[] = []
    for (let at = from / 2; at < Math.min(count, from + BATCH) / 2; at++) {
      const run = runOf(at)
      run.delta(`Answer ${at}, of about the length that a short answer has: a sentence or two, and no more.`)
      for (const event of [...run.begin(), ...run.end()])
        if ('message' in event && event.message?.status === 'completed')
          changes.push({ type: 'message', row: { message: event.message, position: event.message.seq ?? 0 } })
    }
    await storage.commit(changes)
  }
  const session = {
    id: SESSION_ID,
    metadata: {},
    headId: `a${count / 2 - 1}`,
    createdAt: 0,
    updatedAt: 0,
    v: 1,
  }
  const cursors = { eventId: '1.live', rev: count * 2, tidemark: session.headId, nextLocal: 0 }
  await storage.commit([{ type: 'session', row: { session, ...cursors, complete: true, epoch: 1 } }])
  await storage.close()
}

/** From where on time counts: from nothing, or from when the database is open. */
type From = 'nothing' | 'open'

/** A page whose frames come at once: the wait for the next one is no part of opening. */
const platform: Platform = {
  document,
  navigator,
  BroadcastChannel,
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  requestAnimationFrame(callback) {
    queueMicrotask(callback)
    return 0
  },
}

/** Milliseconds until the newest messages are there. */
async function openSession(name: string, from: From, wholly = false): Promise<number> {
  const { fetch } = openWire()
  let start = performance.now()
  const storage = dexieStorage(name)
  const runtime = remote({ url: 'http://live.invalid', fetch })
  const chat = createChat({ storage, runtime, platform })
  if (from === 'open') {
    await seen(chat.sessions, () => chat.sessions.get().length > 0)
    start = performance.now()
  }
  const session = chat.session(SESSION_ID)
  await seen(session, () => session.get().messages.length > 0)
  const took = performance.now() - start
  const { messages, hasOlder } = session.get()
  if (messages.length !== NEWEST || !hasOlder)
    throw new Error(`expected the newest ${NEWEST} messages, there are ${messages.length}`)
  // What is read after that, by the tab that leads, is no part of the wait, but of what is read.
  if (wholly) await seen(session, () => session.get().connection === 'online')
  await chat.close()
  return took
}

const answer = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** The same rows by IndexedDB alone: one connection, one transaction, one look at what waits to be sent. */
async function openRaw(name: string, from: From): Promise<number> {
  let start = performance.now()
  const db = await answer(indexedDB.open(name))
  if (from === 'open') {
    await answer<unknown[]>(db.transaction('sessions').objectStore('sessions').getAll())
    start = performance.now()
  }
  const tx = db.transaction(['sessions', 'messages', 'outbox'])
  const range = IDBKeyRange.bound([SESSION_ID], [SESSION_ID, []])
  const [session, rows] = await Promise.all([
    answer<unknown>(tx.objectStore('sessions').get(SESSION_ID)),
    newest(tx.objectStore('messages').index('[message.sessionId+position]'), range),
    answer<unknown[]>(tx.objectStore('outbox').getAll()),
  ])
  const took = performance.now() - start
  if (!session || rows !== NEWEST) throw new Error(`expected a session and ${NEWEST} rows, not ${rows}`)
  db.close()
  return took
}

/** What browsers since 2025 have: rows from the top in one answer. */
interface WithRecords {
  getAllRecords(options: { query: IDBKeyRange; count: number; direction: 'prev' }): IDBRequest<unknown[]>
}

/** Counts rows from the top, in the quickest way that there is. */
async function newest(index: IDBIndex & Partial<WithRecords>, query: IDBKeyRange): Promise<number> {
  if (!index.getAllRecords) throw new Error('a browser without getAllRecords: nothing to compare with')
  return (await answer(index.getAllRecords({ query, count: NEWEST, direction: 'prev' }))).length
}

/** Counts the rows of messages that are read from now on. */
function countRows(): { rows: number } {
  const counted = { rows: 0 }
  for (const prototype of [IDBObjectStore.prototype, IDBIndex.prototype])
    for (const name of ['get', 'getAll', 'getAllRecords', 'openCursor']) {
      const own: unknown = Reflect.get(prototype, name)
      if (typeof own !== 'function') continue
      Reflect.set(prototype, name, function (this: IDBObjectStore | IDBIndex, ...args: unknown[]) {
        const request: IDBRequest<unknown> = Reflect.apply(own, this, args)
        const store = 'objectStore' in this ? this.objectStore : this
        if (store.name === 'messages')
          request.addEventListener('success', () => {
            const { result } = request
            counted.rows += Array.isArray(result) ? result.length : result ? 1 : 0
          })
        return request
      })
    }
  return counted
}

const OURS = 'tidemark'
const RAW = 'IndexedDB alone'

async function ratio(name: string, from: From, rounds: number): Promise<number> {
  const given: Case = {
    name,
    unit: 'session',
    contestants: [
      { name: OURS, units: 1, run: () => openSession(name, from) },
      { name: RAW, units: 1, run: () => openRaw(name, from) },
    ],
    claims: [{ of: OURS, to: RAW }],
  }
  const { ratios } = await measure(given, { rounds, warmUp: 5 })
  return ratios[0]?.median ?? Number.NaN
}

export interface Opening {
  /** How many times as long as the same reading without a chat: in an open database, and with opening it. */
  session: number
  database: number
  /** Messages that were read. */
  rows: number
}

/** Opens a session of so many stored messages, over and over. */
export async function measureOpening(count: number, rounds: number): Promise<Opening> {
  const name = nameOf(count)
  await fill(count)
  const session = await ratio(name, 'open', rounds)
  const database = await ratio(name, 'nothing', rounds)
  const counted = countRows()
  await openSession(name, 'open', true)
  return { session, database, rows: counted.rows }
}
