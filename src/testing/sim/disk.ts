import type { Change, ChatStorage, CommitOptions } from '../../chat/ports.ts'
import { TidemarkError } from '../../lib/errors.ts'
import { memoryStorage } from '../../storage/memory.ts'
import type { Actor, Schedule } from './schedule.ts'

/** How an operation on a simulated disk can go wrong. */
export type StorageFault =
  /** The transaction is aborted: nothing of it is stored. */
  | 'abort'
  | 'quota'
  /** Nothing is done, and after five seconds that is a failure. */
  | 'hang'
  /** It is stored, and after five seconds said to have failed. */
  | 'mute'
  /** It is stored, and said to have failed. */
  | 'late'
  /** The handle is lost: for twenty seconds every operation on it fails, then there is another. */
  | 'dead'
  /** Opening is refused for twenty seconds, as in a window that keeps nothing: every operation fails. */
  | 'refused'
  /** Somebody else keeps the database to himself for twenty seconds: every operation hangs. */
  | 'blocked'
  /** The database is deleted before the operation, which finds a new one. */
  | 'deleted'

export type StorageOperation = Exclude<keyof ChatStorage, 'durable' | 'name' | 'close'>

export interface Batch {
  readonly changes: readonly Change[]
  readonly strict: boolean
}

/** A database that survives the tabs that use it, until it is told not to. */
export interface Disk {
  /** What is stored, to be looked at: every read of it is immediate. */
  readonly rows: ChatStorage
  /** Another handle on it, for one tab. */
  open(actor: Actor): ChatStorage
  /** A loss of power: forgets up to so many of the last batches that nobody was promised. Resolves with how many. */
  lose(most: number): Promise<number>
}

export interface DiskOptions {
  /** The database's name, shared by the tabs. Without one, tabs do not know of each other. */
  name?: string
  /** Decides what becomes of each operation; undefined: it works. */
  fault?: (operation: StorageOperation, actor: Actor) => StorageFault | undefined
  /** Called with each batch after it was stored. */
  onCommit?: (batch: Batch) => void
}

const failure = (fault: StorageFault) =>
  fault === 'quota'
    ? new TidemarkError('quota', 'QuotaExceededError: the transaction was aborted')
    : new TidemarkError('storage', `UnknownError: ${fault}`)

/** Faults after which the batch is there. */
const STORED: readonly StorageFault[] = ['mute', 'late']

/** What befalls every operation of a handle for a while, once it has befallen one. */
const LASTING: Readonly<Partial<Record<StorageFault, StorageFault>>> = {
  dead: 'dead',
  refused: 'refused',
  blocked: 'hang',
}
/** For how long, in milliseconds. */
const LASTS = 20_000

/** Milliseconds after which a storage takes what it hears nothing of for a failure. */
const PATIENCE = 5_000

interface Running {
  schedule: Schedule
  options: DiskOptions
  actor: Actor
  /** What every operation meets with for now, and until when, in milliseconds since the epoch. */
  lasting: StorageFault | undefined
  until: number
  /** Deletes the database. */
  empty(): void
}

/** What befalls an operation now. */
function faultOf(running: Running, operation: StorageOperation): StorageFault | undefined {
  const { schedule, options, actor } = running
  const now = schedule.now()
  if (now < running.until) return running.lasting
  const fault = options.fault?.(operation, actor)
  const lasting = fault && LASTING[fault]
  if (lasting) {
    running.lasting = lasting
    running.until = now + LASTS
  }
  if (fault === 'deleted') running.empty()
  return fault === 'deleted' ? undefined : (lasting ?? fault)
}

/** One operation: on its way, carried out, and answered; each when its turn comes. */
function operate<T>(running: Running, operation: StorageOperation, body: () => Promise<T>): Promise<T> {
  const { schedule, actor } = running
  const delay = () => schedule.chance.int(4)
  const lane = `disk ${actor.name}`
  return new Promise((resolve, reject) => {
    const answer = (run: () => void, wait = delay()) =>
      schedule.post({ actor, label: `${operation} answered`, delay: wait, lane: `${lane} answers`, run })
    const run = async () => {
      const fault = faultOf(running, operation)
      const wait = fault === 'hang' || fault === 'mute' ? PATIENCE : undefined
      try {
        if (fault && !STORED.includes(fault)) throw failure(fault)
        const value = await body()
        if (fault) throw failure(fault)
        answer(() => resolve(value))
      } catch (thrown) {
        answer(() => reject(thrown), wait)
      }
    }
    schedule.post({ actor, label: operation, delay: delay(), lane, run: () => void run() })
  })
}

/** A disk for simulations, over a `memoryStorage` and a virtual clock, that fails when it is told to. */
export function createDisk(schedule: Schedule, options: DiskOptions = {}): Disk {
  let rows = memoryStorage()
  let log: Batch[] = []
  const commit = async (changes: readonly Change[], given?: CommitOptions) => {
    await rows.commit(changes, given)
    const batch = { changes: structuredClone(changes), strict: given?.durability === 'strict' }
    log.push(batch)
    options.onCommit?.(batch)
  }
  const empty = () => {
    rows = memoryStorage()
    log = []
  }
  return {
    get rows() {
      return rows
    },
    open(actor) {
      const running: Running = { schedule, options, actor, lasting: undefined, until: 0, empty }
      return {
        durable: true,
        ...(options.name !== undefined && { name: options.name }),
        start: (query) => operate(running, 'start', () => rows.start(query)),
        sessions: (query) => operate(running, 'sessions', () => rows.sessions(query)),
        window: (id, query) => operate(running, 'window', () => rows.window(id, query)),
        messages: (ids) => operate(running, 'messages', () => rows.messages(ids)),
        records: (kind, query) => operate(running, 'records', () => rows.records(kind, query)),
        commit: (changes, given) => operate(running, 'commit', () => commit(changes, given)),
        async close() {
          running.lasting = 'dead'
          running.until = Number.POSITIVE_INFINITY
        },
      }
    },
    async lose(most) {
      const last = log.findLastIndex(({ strict }) => strict)
      const kept = Math.max(last + 1, log.length - most)
      const lost = log.length - kept
      log = log.slice(0, kept)
      rows = memoryStorage()
      for (const { changes } of log) await rows.commit(changes)
      return lost
    },
  }
}
