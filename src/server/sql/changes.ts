import { sql } from 'kysely'
import { isSettled } from '../../message/schema.ts'
import type { Change, EventRow, KeyRow, MessageRow, RunRow, Scope, SessionRow } from '../ports.ts'
import type { Db, Tables } from './tables.ts'

async function putSession(db: Db, row: SessionRow, recent: boolean): Promise<void> {
  const { account, session, seq, rev, events, tag, trimmed, published, epoch } = row
  const { id } = session
  const data = JSON.stringify(session)
  const newest = sql<number>`(select coalesce(max(recency), 0) + 1 from sessions where account = ${account})`
  const counters = { seq, rev, events, tag, trimmed, epoch, deleted: row.deleted ? 1 : 0, data }
  await db
    .insertInto('sessions')
    .values({ id, account, recency: newest, published, ...counters })
    // `published` is the publisher's: it may have gone on since this row was read.
    .onConflict((on) => on.column('id').doUpdateSet({ ...counters, ...(recent && { recency: newest }) }))
    .execute()
}

async function putMessage(db: Db, account: string, { message, runId, folded }: MessageRow): Promise<void> {
  const { id, sessionId, parentId, seq = 0, rev = 0 } = message
  const row = {
    parent: parentId,
    seq,
    rev,
    unsettled: isSettled(message) ? 0 : 1,
    run: runId,
    folded,
    data: JSON.stringify(message),
  }
  await db
    .insertInto('messages')
    .values({ account, id, session: sessionId, deleted: 0, ...row })
    .onConflict((on) => on.columns(['account', 'id']).doUpdateSet(row))
    .execute()
}

async function putRun(db: Db, account: string, run: RunRow): Promise<void> {
  const { id, sessionId, kind, state, place, answers, messages, epoch, leaseUntil, outcome, ended } = run
  const row = {
    kind,
    state,
    place,
    answers,
    messages: JSON.stringify(messages),
    epoch,
    lease: leaseUntil,
    outcome,
    ended,
  }
  await db
    .insertInto('runs')
    .values({ account, id, session: sessionId, ...row })
    .onConflict((on) => on.columns(['account', 'id']).doUpdateSet(row))
    .execute()
}

async function addKey(db: Db, account: string, row: KeyRow): Promise<void> {
  const { key, sessionId, hash, messageId, runId, event } = row
  await db
    .insertInto('keys')
    .values({
      account,
      key,
      session: sessionId,
      hash,
      message: messageId,
      run: runId,
      n: event.n,
      tag: event.tag,
    })
    .execute()
}

export const eventValues = (sessionId: string, { id, event }: EventRow): Tables['events'] => ({
  session: sessionId,
  n: id.n,
  tag: id.tag,
  message: event.type === 'message.delta' ? event.id : null,
  data: JSON.stringify(event),
})

async function empty(db: Db, { account, sessionId }: Scope): Promise<void> {
  for (const table of ['messages', 'runs', 'keys'] as const) {
    await db.deleteFrom(table).where('account', '=', account).where('session', '=', sessionId).execute()
  }
  await db.deleteFrom('events').where('session', '=', sessionId).execute()
  await db.deleteFrom('records').where('session', '=', sessionId).execute()
}

/** Writes one change. On the same connection as the view it was decided by. */
export async function applyChange(db: Db, scope: Scope, change: Change): Promise<void> {
  const { account, sessionId } = scope
  switch (change.type) {
    case 'session':
      return putSession(db, change.row, change.recent)
    case 'message':
      return putMessage(db, account, change.row)
    case 'run':
      return putRun(db, account, change.row)
    case 'key':
      return addKey(db, account, change.row)
    case 'event':
      await db.insertInto('events').values(eventValues(sessionId, change.row)).execute()
      return
    case 'deleteMessage':
      await db
        .updateTable('messages')
        .set({ deleted: 1, unsettled: 0, rev: change.rev, data: '' })
        .where('account', '=', account)
        .where('session', '=', sessionId)
        .where('id', '=', change.id)
        .execute()
      return
    case 'trim':
      await db.deleteFrom('events').where('session', '=', sessionId).where('n', '<=', change.upTo).execute()
      return
    case 'empty':
      return empty(db, scope)
  }
}
