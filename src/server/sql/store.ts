import { sql } from 'kysely'
import type { EventLog, HistoryStore, Scope } from '../ports.ts'
import { applyChange, eventValues } from './changes.ts'
import { loadPage } from './page.ts'
import { sqlRecords } from './records.ts'
import { eventRow, sessionOf } from './rows.ts'
import type { Db } from './tables.ts'
import { loadView } from './view.ts'

/** What differs between two engines: how a transaction is made, and who wakes whom. */
export interface Engine {
  /** Runs `work` in one transaction that can write, on one connection, and repeats it where the engine says so. */
  write<T>(work: (db: Db) => Promise<T>, options: { relaxed: boolean }): Promise<T>
  /** Runs `work` on one snapshot. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Tells those who wait for a session's events. */
  wake(sessionId: string): void
  /** Resolves when the session may have events after this number, at the latest when aborted. */
  wait(sessionId: string, after: number, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const readEvents = async (db: Db, sessionId: string, after: number, limit: number) => {
  const rows = await db
    .selectFrom('events')
    .select(['session', 'n', 'tag', 'data'])
    .where('session', '=', sessionId)
    .where('n', '>', after)
    .orderBy('n')
    .limit(limit)
    .execute()
  return rows.map(eventRow)
}

/** The events as they stand in the store's own tables: committed with what they tell of, so there is nothing to publish. */
const ownLog = ({ write, read, wait, wake }: Engine): EventLog => ({
  async append(sessionId, entries) {
    if (entries.length === 0) return
    await write(
      (db) =>
        db
          .insertInto('events')
          .values(entries.map((entry) => eventValues(sessionId, entry)))
          .onConflict((on) => on.columns(['session', 'n']).doNothing())
          .execute(),
      { relaxed: false },
    )
    wake(sessionId)
  },
  read: (sessionId, after, limit) =>
    read(async (db) => {
      const entries = await readEvents(db, sessionId, after, limit)
      const last = await db
        .selectFrom('events')
        .select('n')
        .where('session', '=', sessionId)
        .orderBy('n', 'desc')
        .limit(1)
        .executeTakeFirst()
      return { entries, tail: last?.n ?? 0 }
    }),
  wait,
})

async function listSessions(db: Db, account: string, { after, limit }: { after?: string; limit: number }) {
  const cursor =
    after === undefined
      ? undefined
      : await db
          .selectFrom('sessions')
          .select(['recency', 'id'])
          .where('id', '=', after)
          .where('account', '=', account)
          .executeTakeFirst()
  if (after !== undefined && !cursor) return undefined
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'data'])
    .where('account', '=', account)
    .where('deleted', '=', 0)
    .$if(cursor !== undefined, (list) => list.where('recency', '<', cursor?.recency ?? 0))
    .orderBy('recency', 'desc')
    .limit(limit + 1)
    .execute()
  return { sessions: rows.slice(0, limit).map(sessionOf), hasMore: rows.length > limit }
}

async function listStale(db: Db, now: number, limit: number): Promise<Scope[]> {
  const { rows } = await sql<Scope>`
    select account, session as "sessionId" from runs r
      where state in ('queued', 'running', 'waiting') and (
        (state in ('running', 'waiting') and lease < ${now})
        or (state = 'queued' and not exists (
          select 1 from runs b where b.session = r.session and b.state in ('running', 'waiting')
        ))
      )
      order by session, place limit ${limit}
  `.execute(db)
  // Several may wait in one session.
  return rows.filter(({ sessionId }, at) => rows[at - 1]?.sessionId !== sessionId)
}

/** A history store on SQL: one set of queries, whatever the engine. */
export function sqlStore(engine: Engine): HistoryStore & { readonly log: EventLog } {
  return {
    log: ownLog(engine),
    async transact(scope, needs, decide, { relaxed = false } = {}) {
      const { answer, changed } = await engine.write(
        async (db) => {
          const decision = decide(await loadView(db, scope, needs))
          for (const change of decision.changes) await applyChange(db, scope, change)
          return { answer: decision.answer, changed: decision.changes.length > 0 }
        },
        { relaxed },
      )
      // After the commit: an event's number is never seen before the event.
      if (changed) engine.wake(scope.sessionId)
      return answer
    },
    read: (scope, needs) => engine.read((db) => loadView(db, scope, needs)),
    page: (scope, query) => engine.read((db) => loadPage(db, scope, query)),
    sessions: (account, query) => engine.read((db) => listSessions(db, account, query)),
    stale: (now, limit) => engine.read((db) => listStale(db, now, limit)),
    unpublished: (limit) =>
      engine.read((db) =>
        db
          .selectFrom('sessions')
          .select(['id as sessionId', 'published'])
          .whereRef('published', '<', 'events')
          .limit(limit)
          .execute(),
      ),
    events: (sessionId, after, limit) => engine.read((db) => readEvents(db, sessionId, after, limit)),
    async markPublished(sessionId, upTo) {
      await engine.write(
        (db) =>
          db
            .updateTable('sessions')
            .set({ published: upTo })
            .where('id', '=', sessionId)
            .where('published', '<', upTo)
            .execute(),
        { relaxed: true },
      )
    },
    records: (scope) => sqlRecords(engine, scope),
    close: () => engine.close(),
  }
}
