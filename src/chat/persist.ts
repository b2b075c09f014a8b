import { backoffDelay } from '../lib/backoff.ts'
import type { Env } from '../lib/env.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorData } from '../lib/errors.ts'
import type { Trace } from '../protocol/state.ts'
import {
  batchOf,
  isSaved,
  note,
  noteAll,
  nothingUnsaved,
  putBack,
  type SessionFields,
  type Unsaved,
} from './batch.ts'
import type { Core } from './core.ts'
import { asStored } from './held.ts'
import type { Change, ChatStorage, CommitOptions, Guard } from './ports.ts'

/** Milliseconds of a growing answer that one transaction collects. */
const COALESCE = 100

export interface PersistDeps {
  storage: ChatStorage
  env: Env
  /** Ends what waits to be written later: after it only `commit` and `flush` write. */
  ended: AbortSignal
  fieldsOf(core: Core): SessionFields
  /** Whether what is stored of a session is read, tried again where it could not be: nothing is written over it before. */
  isRead(core: Core): Promise<boolean>
  /** Called after each write, with what was wrong. */
  onHealth(error: ErrorData | undefined): void
  /** Called after a batch is stored. */
  onStored(core: Core, changes: readonly Change[]): void
  /** Looks at what is stored instead of what this tab believed to be. Called where a write found it otherwise. */
  look(core: Core): Promise<void>
}

/** Writes what sessions change, in order, one transaction at a time per session. */
export interface Persist {
  /** Remembers what an update changed; it is written soon. */
  note(core: Core, trace: Trace): void
  /** Remembers outbox rows that changed or are gone; they are written soon. */
  noteOutbox(core: Core, ids: Iterable<string>): void
  /** Remembers all that is known of a session; it is written soon. */
  noteAll(core: Core): void
  /**
   * Writes everything that was noted before, in one transaction. Resolves with whether it is on disk; where storage fails,
   * it stays unsaved and is tried again.
   */
  commit(core: Core, options?: Pick<CommitOptions, 'durability'>): Promise<boolean>
  /** Runs between two writes: what it reads then is what was written last. */
  between(core: Core, read: () => Promise<void>): Promise<void>
  /** What is not written yet. */
  unsaved(core: Core): Unsaved
  /** Resolves when all that was noted before is stored, or could not be. */
  flush(): Promise<void>
}

interface Writer {
  unsaved: Unsaved
  /** Characters in each message's journal. */
  grown: Map<string, number>
  /** The last write or read; the next one waits for it. */
  tail: Promise<unknown>
  /** A write is on its way that has not begun. */
  due: boolean
  /** Who waits for its write has to know that it is on disk. */
  strict: boolean
  /** When the last write began. */
  wroteAt: number
  /** Ends the wait for a write that may come later. */
  timer: AbortController | undefined
  /** Writes in a row that failed. */
  failures: number
}

const newWriter = (): Writer => ({
  unsaved: nothingUnsaved(),
  grown: new Map(),
  tail: Promise.resolve(),
  due: false,
  strict: false,
  wroteAt: Number.NEGATIVE_INFINITY,
  timer: undefined,
  failures: 0,
})

/** How a write ended. */
type Written = { type: 'stored' | 'unread' | 'otherwise' } | { type: 'failed'; error: ErrorData }

/** Every batch is written over what this tab has read or written last, and over nothing else. */
function guardsOf(id: string, { stored }: SessionFields): Guard[] {
  if (stored) return [{ type: 'epoch', sessionId: id, epoch: stored.epoch }]
  return stored === null ? [] : [{ type: 'absent', table: 'sessions', id }]
}

/** Takes what is unsaved and writes it. Never throws. */
async function writeOnce(core: Core, writer: Writer, deps: PersistDeps): Promise<Written> {
  const readable = isSaved(writer.unsaved) || (await deps.isRead(core))
  const { unsaved, strict } = writer
  Object.assign(writer, { due: false, strict: false })
  if (isSaved(unsaved)) return { type: 'stored' }
  if (!readable) {
    writer.strict ||= strict
    return { type: 'unread' }
  }
  Object.assign(writer, { unsaved: nothingUnsaved(), wroteAt: deps.env.now() })
  const fields = deps.fieldsOf(core)
  let changes: Change[]
  try {
    const state = asStored(core.held, core.outbox, core.state)
    changes = batchOf(state, core.outbox, unsaved, fields, writer.grown)
    if (changes.length === 0) return { type: 'stored' }
    const guards = guardsOf(core.id, fields)
    await deps.storage.commit(changes, { guards, durability: strict ? 'strict' : 'relaxed' })
  } catch (thrown) {
    putBack(writer.unsaved, unsaved)
    // Whoever was promised a disk is promised it by the next attempt as well.
    writer.strict ||= strict
    const error = errorData(thrown, 'storage')
    return error.code === 'conflict' ? { type: 'otherwise' } : { type: 'failed', error }
  }
  deps.onStored(core, changes)
  return { type: 'stored' }
}

/** Looks at what was stored meanwhile and writes again, so often, before others get a chance. */
const MOST_LOOKS = 4

/** Writes, and again where what is stored was not what this tab knew. */
async function write(core: Core, writer: Writer, deps: PersistDeps): Promise<Written> {
  for (let looks = 0; ; looks++) {
    const written = await writeOnce(core, writer, deps)
    if (written.type !== 'otherwise' || looks === MOST_LOOKS) return written
    try {
      await deps.look(core)
    } catch (thrown) {
      return { type: 'failed', error: errorData(thrown, 'storage') }
    }
  }
}

interface Desk {
  readonly deps: PersistDeps
  readonly writers: Map<Core, Writer>
}

function writerOf({ writers }: Desk, core: Core): Writer {
  const present = writers.get(core)
  if (present) return present
  const writer = newWriter()
  writers.set(core, writer)
  return writer
}

function later(desk: Desk, core: Core, writer: Writer, delay: number): void {
  const { env, ended } = desk.deps
  if (writer.timer || ended.aborted) return
  const timer = new AbortController()
  writer.timer = timer
  const over = () => {
    if (writer.timer === timer) writer.timer = undefined
  }
  env.sleep(delay, timer.signal).then(() => {
    over()
    return enqueue(desk, core, writer)
  }, over)
}

async function attempt(desk: Desk, core: Core, writer: Writer): Promise<boolean> {
  const { deps, writers } = desk
  const { failures } = writer
  const written = await write(core, writer, deps)
  if (written.type !== 'stored') {
    writer.failures++
    // What nobody could read has told of itself; that others write faster is no failure.
    if (written.type === 'failed') deps.onHealth(written.error)
    later(desk, core, writer, backoffDelay(failures, deps.env.random()))
    return false
  }
  writer.failures = 0
  if ([...writers.values()].every((other) => other.failures === 0)) deps.onHealth(undefined)
  if (failures > 0) {
    // The wait that a failing storage asked for is too long for one that works.
    writer.timer?.abort()
    writer.timer = undefined
    if (!isSaved(writer.unsaved)) schedule(desk, core, writer, false)
  }
  return deps.storage.durable
}

function enqueue(desk: Desk, core: Core, writer: Writer): Promise<boolean> {
  const written = writer.tail.then(() => attempt(desk, core, writer))
  writer.tail = written
  return written
}

/** A growing answer is collected for a while, by elapsed time: a hidden page's timers are late, its chunks are not. */
function schedule(desk: Desk, core: Core, writer: Writer, grows: boolean): void {
  const { env, ended } = desk.deps
  // While storage fails, what is unsaved is tried again by itself.
  if (writer.due || writer.failures > 0 || ended.aborted) return
  const wait = grows ? Math.min(COALESCE, writer.wroteAt + COALESCE - env.now()) : 0
  if (wait > 0) later(desk, core, writer, wait)
  else {
    writer.due = true
    void enqueue(desk, core, writer)
  }
}

export function createPersist(deps: PersistDeps): Persist {
  const desk: Desk = { deps, writers: new Map() }
  const { writers } = desk
  deps.ended.addEventListener('abort', () => {
    for (const { timer } of writers.values()) timer?.abort()
  })
  return {
    note(core, trace) {
      const writer = writerOf(desk, core)
      note(writer.unsaved, trace)
      schedule(desk, core, writer, trace.changed.size === 0 && trace.removed.size === 0)
    },
    noteOutbox(core, ids) {
      const writer = writerOf(desk, core)
      for (const id of ids) writer.unsaved.outbox.add(id)
      schedule(desk, core, writer, false)
    },
    noteAll(core) {
      const writer = writerOf(desk, core)
      noteAll(writer.unsaved, core.state, core.outbox)
      schedule(desk, core, writer, false)
    },
    commit(core, { durability } = {}) {
      const writer = writerOf(desk, core)
      writer.strict ||= durability === 'strict'
      return enqueue(desk, core, writer)
    },
    between(core, read) {
      const writer = writerOf(desk, core)
      const done = writer.tail.then(read)
      writer.tail = done.catch(() => undefined)
      return done
    },
    unsaved: (core) => writerOf(desk, core).unsaved,
    async flush() {
      await Promise.all([...writers].map(([core, writer]) => enqueue(desk, core, writer)))
    },
  }
}
