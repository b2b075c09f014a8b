import { expect } from 'vitest'
import {
  batchOf,
  isSaved,
  note,
  nothingUnsaved,
  putBack,
  type SessionFields,
  sessionRow,
} from '../../src/chat/batch.ts'
import { LOCAL_POSITION, type OutboxRow } from '../../src/chat/ports.ts'
import type { Envelope } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messagesOf, newTrace, type SessionState } from '../../src/protocol/state.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { empty, expectSame } from '../protocol/fold.ts'
import { SESSION } from '../protocol/server-model.ts'
import { row } from './rows.ts'

export const fields = (places: ReadonlyMap<string, number> = new Map()): SessionFields => ({
  positions: places,
  tidemark: null,
  complete: true,
  nextLocal: 0,
  term: 0,
  stored: undefined,
  owns: true,
})

/** A session and its writer, by hand: every step is decided by the test. */
export function desk() {
  const storage = memoryStorage()
  let unsaved = nothingUnsaved()
  let state = empty
  const outbox = new Map<string, OutboxRow>()
  const grown = new Map<string, number>()
  return {
    storage,
    state: () => state,
    fold(envelope: Envelope) {
      const trace = newTrace()
      state = reduce(state, envelope, 0, trace)
      note(unsaved, trace)
    },
    change(make: (state: SessionState, trace: ReturnType<typeof newTrace>) => SessionState) {
      const trace = newTrace()
      state = make(state, trace)
      note(unsaved, trace)
    },
    queue(id: string, put: boolean) {
      if (put) outbox.set(id, row(id, LOCAL_POSITION, { sessionId: SESSION }))
      else outbox.delete(id)
      unsaved.outbox.add(id)
    },
    /** Writes what is unsaved; `fails` before anything of it is stored. Returns what was to be written. */
    async write(fails = false) {
      const taken = unsaved
      unsaved = nothingUnsaved()
      const changes = batchOf(state, outbox, taken, fields(), grown)
      if (fails) putBack(unsaved, taken)
      else await storage.commit(changes)
      return changes
    },
    async expectSame() {
      const window = await storage.window(SESSION, { limit: 10_000 })
      const byId = <T extends { id: string }>(list: T[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      expectSame(byId(window.rows.map(({ message }) => message)), byId([...messagesOf(state)]))
      expectSame(window.session && { ...window.session, epoch: 0 }, sessionRow(state, fields()))
      expectSame(byId([...window.outbox]), byId([...outbox.values()]))
      expect(isSaved(unsaved)).toBe(true)
    },
  }
}
