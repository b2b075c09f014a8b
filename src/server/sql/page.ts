import type { Message } from '../../message/schema.ts'
import type { Page, PageQuery, Scope, SessionRow } from '../ports.ts'
import { sessionRow } from './rows.ts'
import type { Db, Tables } from './tables.ts'
import { unsettledOf, wholeMessage } from './view.ts'

type Row = Tables['messages']

/** Rows of a page, and those that are unsettled and lie on the side the reader has passed already. */
interface Found {
  rows: Row[]
  hasMore: boolean
}

const bySeq = (a: Row, b: Row): number => a.seq - b.seq

const rowsOf = (db: Db, sessionId: string) =>
  db.selectFrom('messages').selectAll().where('session', '=', sessionId).where('deleted', '=', 0)

/** The first `limit` of what was asked with one more, which tells whether there is more. */
const cut = (rows: Row[], limit: number): Found => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
})

/** The newest messages, and as many more as it takes to hold every unsettled one: a window without holes. */
async function newest(db: Db, sessionId: string, limit: number): Promise<Found> {
  const { rows, hasMore } = cut(
    await rowsOf(db, sessionId)
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute(),
    limit,
  )
  const first = rows.at(-1)
  if (!first) return { rows: [], hasMore: false }
  const older = (await unsettledOf(db, sessionId)).filter(({ seq }) => seq < first.seq).sort(bySeq)
  const [oldest] = older
  if (!oldest) return { rows: rows.reverse(), hasMore }
  const window = await rowsOf(db, sessionId).where('seq', '>=', oldest.seq).orderBy('seq').execute()
  const before = await rowsOf(db, sessionId).where('seq', '<', oldest.seq).limit(1).execute()
  return { rows: window, hasMore: before.length > 0 }
}

/** A message's place, also of one that was deleted. */
const placeOf = (db: Db, { account, sessionId }: Scope, id: string) =>
  db
    .selectFrom('messages')
    .select('seq')
    .where('account', '=', account)
    .where('session', '=', sessionId)
    .where('id', '=', id)
    .executeTakeFirst()

async function after(db: Db, sessionId: string, seq: number, limit: number): Promise<Found> {
  const passed = (await unsettledOf(db, sessionId)).filter((row) => row.seq <= seq).sort(bySeq)
  const { rows, hasMore } = cut(
    await rowsOf(db, sessionId)
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(limit + 1)
      .execute(),
    limit,
  )
  return { rows: [...passed, ...rows], hasMore }
}

async function before(db: Db, sessionId: string, seq: number, limit: number): Promise<Found> {
  const passed = (await unsettledOf(db, sessionId)).filter((row) => row.seq >= seq).sort(bySeq)
  const { rows, hasMore } = cut(
    await rowsOf(db, sessionId)
      .where('seq', '<', seq)
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute(),
    limit,
  )
  return { rows: [...rows.reverse(), ...passed], hasMore }
}

async function changed(db: Db, sessionId: string, since: number, limit: number): Promise<Found> {
  const passed = (await unsettledOf(db, sessionId))
    .filter(({ rev }) => rev <= since)
    .sort((a, b) => a.rev - b.rev)
  const { rows, hasMore } = cut(
    await rowsOf(db, sessionId)
      .where('rev', '>', since)
      .orderBy('rev')
      .limit(limit + 1)
      .execute(),
    limit,
  )
  return { rows: [...passed, ...rows], hasMore }
}

/** By a cursor that can be proven; undefined otherwise. */
async function byCursor(
  db: Db,
  scope: Scope,
  session: SessionRow,
  query: PageQuery,
): Promise<Found | undefined> {
  const { sessionId } = scope
  if (query.type === 'newest') return newest(db, sessionId, query.limit)
  if (query.type === 'changed') {
    // A revision from the future is one of another history.
    return query.since > session.rev ? undefined : changed(db, sessionId, query.since, query.limit)
  }
  const place = await placeOf(db, scope, query.id)
  if (!place) return undefined
  return (query.type === 'after' ? after : before)(db, sessionId, place.seq, query.limit)
}

async function tombstones(db: Db, sessionId: string, since: number, upTo: number): Promise<Page['deleted']> {
  return db
    .selectFrom('messages')
    .select(['id', 'rev'])
    .where('session', '=', sessionId)
    .where('deleted', '=', 1)
    .where('rev', '>', since)
    .where('rev', '<=', upTo)
    .orderBy('rev')
    .execute()
}

/** A page and the counters it goes with. To be called within one snapshot. */
export async function loadPage(db: Db, scope: Scope, query: PageQuery): Promise<Page | undefined> {
  const { account, sessionId } = scope
  const owner = await db
    .selectFrom('sessions')
    .selectAll()
    .where('id', '=', sessionId)
    .where('account', '=', account)
    .executeTakeFirst()
  if (!owner) return undefined
  const session = sessionRow(owner)
  const proven = await byCursor(db, scope, session, query)
  const { rows, hasMore } = proven ?? (await newest(db, sessionId, query.limit))
  const messages: Message[] = []
  for (const row of rows) messages.push((await wholeMessage(db, row)).message)
  const partial = proven && query.type === 'changed' && hasMore
  const rev = partial ? (rows.at(-1)?.rev ?? query.since) : session.rev
  const deleted = proven && query.type === 'changed' ? await tombstones(db, sessionId, query.since, rev) : []
  return { session, messages, hasMore, limited: !proven, rev, deleted }
}
