import { expect } from 'vitest'
import { type Change, type ChatStorage, type CommitOptions, LOCAL_POSITION } from '../../src/chat/ports.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { memoryStorage } from '../../src/storage/memory.ts'

export type Operation = Exclude<keyof ChatStorage, 'durable' | 'name' | 'close'>

export interface WatchedStorage extends ChatStorage {
  /** Every batch that was stored, oldest first. */
  readonly commits: { changes: readonly Change[]; options: CommitOptions | undefined }[]
  /** How often it was asked for anything. */
  asked(): number
  /** Decides which operation fails, counted from 1; nothing fails any more without it. */
  fail(decide?: (n: number, operation: Operation) => boolean): void
  /** Lets commits wait until the function that it returns is called. */
  hold(): () => void
  /** The database is deleted, and a new one is there at once. */
  empty(): void
  /** The same rows for another chat. Closing one does not close the other. */
  reopen(): WatchedStorage
}

/** A memory that says it is a disk, writes down what it is told, and fails when it is told to. */
export const watchedStorage = (inner: ChatStorage = memoryStorage(), name?: string): WatchedStorage =>
  watch({ inner }, name)

/** @param disk what all who opened it share */
function watch(disk: { inner: ChatStorage }, name: string | undefined): WatchedStorage {
  let count = 0
  let closed = false
  let fails: (n: number, operation: Operation) => boolean = () => false
  let held: Promise<void> | undefined
  const commits: WatchedStorage['commits'] = []
  const step = async <T>(operation: Operation, body: () => Promise<T>): Promise<T> => {
    count++
    if (closed) throw new TidemarkError('storage', 'The storage is closed')
    if (fails(count, operation)) throw new TidemarkError('storage', `UnknownError: operation ${count} failed`)
    return body()
  }
  return {
    durable: true,
    ...(name !== undefined && { name }),
    commits,
    asked: () => count,
    fail(decide = () => false) {
      fails = decide
    },
    hold() {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return () => {
        held = undefined
        release()
      }
    },
    empty() {
      disk.inner = memoryStorage()
    },
    reopen: () => watch(disk, name),
    start: (options) => step('start', () => disk.inner.start(options)),
    sessions: (options) => step('sessions', () => disk.inner.sessions(options)),
    window: (id, options) => step('window', () => disk.inner.window(id, options)),
    messages: (ids) => step('messages', () => disk.inner.messages(ids)),
    records: (kind, options) => step('records', () => disk.inner.records(kind, options)),
    commit: (changes, options) =>
      step('commit', async () => {
        await held
        await disk.inner.commit(changes, options)
        commits.push({ changes, options })
      }),
    async close() {
      closed = true
    },
  }
}

/** What is stored of a session is what its chat shows, row by row, and nothing besides. */
export async function expectStored(chat: Chat, session: ChatSession, storage: ChatStorage): Promise<void> {
  const { session: row, rows, outbox } = await storage.window(session.id, { limit: 10_000 })
  const { messages, session: shown, tidemark } = session.get()
  for (const { message } of rows) expect(message).toEqual(session.message(message.id).get())
  const stored = new Set(rows.map(({ message }) => message.id))
  expect(messages.map(({ id }) => id).filter((id) => !stored.has(id))).toEqual([])
  expect(row?.session.title).toBe(shown?.title)
  expect(row?.tidemark ?? null).toBe(tidemark)
  expect(outbox.length).toBe(chat.health.get().outbox)
  const all = [...rows.map(({ position }) => position), ...outbox.map(({ position }) => position)]
  const positions = all.filter((position) => position >= LOCAL_POSITION)
  expect(new Set(positions).size).toBe(positions.length)
}
