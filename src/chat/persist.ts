import type { Env } from '../lib/env.ts'
import { type ErrorData, errorData, TidemarkError } from '../lib/errors.ts'
import type { Trace } from '../protocol/state.ts'
import { batchOf, isSaved, note, nothingUnsaved, putBack, type SessionFields, type Unsaved } from './batch.ts'
import type { Core } from './core.ts'
import type { Change, ChatStorage, CommitOptions } from './ports.ts'

/** Milliseconds of a growing answer that one transaction collects. */
const COALESCE = 100

export interface PersistDeps {
  storage: ChatStorage
  env: Env
  fieldsOf(core: Core): SessionFields
  /** Called when the first write fails, and with undefined when writing works again. */
  onHealth(error: ErrorData | undefined): void
  /** Called after a batch is stored. */
  onStored(sessionId: string): void
}

/** Writes what sessions change, in order, one transaction at a time per session. */
export interface Persist {
  /** Remembers what an update changed; it is written soon. */
  note(core: Core, trace: Trace): void
  /**
   * Writes what is unsaved together with these changes, in one transaction. Resolves with whether it is stored; where
   * storage fails, what was unsaved stays so and is tried again. Throws `conflict` when a guard fails.
   */
  commit(core: Core, changes?: readonly Change[], options?: CommitOptions): Promise<boolean>
  /** Resolves when all that was noted before is stored, or could not be. */
  flush(): Promise<void>
}

interface Writer {
  unsaved: Unsaved
  /** Characters in each message's journal. */
  grown: Map<string, number>
  /** The last write; the next one waits for it. */
  tail: Promise<unknown>
  /** A write is due without anybody's further help. */
  due: boolean
}

export function createPersist({ storage, env, fieldsOf, onHealth, onStored }: PersistDeps): Persist {
  const writers = new Map<Core, Writer>()
  let failing = false

  const writerOf = (core: Core): Writer => {
    const present = writers.get(core)
    if (present) return present
    const writer = { unsaved: nothingUnsaved(), grown: new Map(), tail: Promise.resolve(), due: false }
    writers.set(core, writer)
    return writer
  }

  const report = (error: ErrorData | undefined) => {
    if (failing === (error !== undefined)) return
    failing = error !== undefined
    onHealth(error)
  }

  async function write(
    core: Core,
    writer: Writer,
    changes: readonly Change[],
    options: CommitOptions,
  ): Promise<boolean> {
    writer.due = false
    const { unsaved } = writer
    if (isSaved(unsaved) && changes.length === 0) return !failing
    writer.unsaved = nothingUnsaved()
    try {
      await storage.commit(
        [...batchOf(core.state, unsaved, fieldsOf(core), writer.grown), ...changes],
        options,
      )
    } catch (error) {
      putBack(writer.unsaved, unsaved)
      if (error instanceof TidemarkError && error.code === 'conflict') throw error
      report(errorData(error, 'storage'))
      return false
    }
    report(undefined)
    onStored(core.id)
    return storage.durable
  }

  const commit = (
    core: Core,
    changes: readonly Change[] = [],
    options: CommitOptions = {},
  ): Promise<boolean> => {
    const writer = writerOf(core)
    const written = writer.tail.then(() => write(core, writer, changes, options))
    // The next write waits for this one, and is not its outcome's business.
    writer.tail = written.catch(() => undefined)
    return written
  }

  return {
    commit,
    note(core, trace) {
      const writer = writerOf(core)
      note(writer.unsaved, trace)
      if (writer.due) return
      writer.due = true
      const grows = trace.pieces.length > 0 && trace.changed.size === 0 && trace.removed.size === 0
      // A write that fails is reported and put back by `write`; a background write has no guard to fail.
      void (grows ? env.sleep(COALESCE) : Promise.resolve()).then(() => commit(core))
    },
    async flush() {
      await Promise.all([...writers.keys()].map((core) => commit(core)))
    },
  }
}
