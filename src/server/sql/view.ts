import { sql } from 'kysely'
import { isSettled, type Message } from '../../message/schema.ts'
import { foldDelta } from '../decide/fold.ts'
import type { MessageRow, Needs, Place, RunRow, Scope, View } from '../ports.ts'
import { eventRow, keyRow, messageRow, runRow, sessionRow } from './rows.ts'
import type { Db, Tables } from './tables.ts'

/** A row's message whole: what was streamed into it since is in the events. */
export async function wholeMessage(db: Db, row: Tables['messages']): Promise<MessageRow> {
  const stored = messageRow(row)
  if (isSettled(stored.message)) return stored
  const deltas = await db
    .selectFrom('events')
    .select(['session', 'n', 'tag', 'data'])
    .where('session', '=', row.session)
    .where('message', '=', row.id)
    .where('n', '>', row.folded)
    .orderBy('n')
    .execute()
  let { message } = stored
  for (const { event } of deltas.map(eventRow)) {
    if (event.type === 'message.delta') message = foldDelta(message, event)
  }
  return { ...stored, message }
}

/** A message and all its ancestors, oldest first. */
async function loadPath(db: Db, { account, sessionId }: Scope, id: string): Promise<Message[]> {
  const { rows } = await sql<Tables['messages']>`
    with recursive up (id, parent, depth) as (
      select id, parent, 0 from messages
        where account = ${account} and session = ${sessionId} and id = ${id} and deleted = 0
      union all
      select m.id, m.parent, up.depth + 1 from messages m join up on m.id = up.parent
        where m.account = ${account} and m.session = ${sessionId} and m.deleted = 0 and up.depth < 1000000
    )
    select m.* from up cross join messages m where m.account = ${account} and m.id = up.id order by up.depth desc
  `.execute(db)
  const path: Message[] = []
  for (const row of rows) path.push((await wholeMessage(db, row)).message)
  return path
}

/** A message and all its descendants. */
async function loadBelow(db: Db, { account, sessionId }: Scope, id: string): Promise<Place[]> {
  const { rows } = await sql<Place>`
    with recursive below (id, parent, seq) as (
      select id, parent, seq from messages
        where account = ${account} and session = ${sessionId} and id = ${id} and deleted = 0
      union all
      select m.id, m.parent, m.seq from below b cross join messages m
        where m.session = ${sessionId} and m.parent = b.id and m.deleted = 0
    )
    select id, parent as "parentId", seq from below
  `.execute(db)
  return rows
}

/** The runs of a session that have not ended, in order. The states are literals: an index holds these alone. */
async function loadOpenRuns(db: Db, { sessionId }: Scope): Promise<RunRow[]> {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('session', '=', sessionId)
    .where(sql<boolean>`state in ('queued', 'running', 'waiting')`)
    .orderBy('place')
    .execute()
  return rows.map(runRow)
}

async function loadRuns(db: Db, { account }: Scope, ids: readonly string[]): Promise<RunRow[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', account)
    .where('id', 'in', ids)
    .execute()
  return rows.map(runRow)
}

async function loadMessages(
  db: Db,
  { account }: Scope,
  ids: readonly string[],
): Promise<Tables['messages'][]> {
  if (ids.length === 0) return []
  return db.selectFrom('messages').selectAll().where('account', '=', account).where('id', 'in', ids).execute()
}

/** What follows a message on whatever branch: always few. */
const childrenOf = (db: Db, { sessionId }: Scope, id: string): Promise<Tables['messages'][]> =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('session', '=', sessionId)
    .where('parent', '=', id)
    .where('deleted', '=', 0)
    .execute()

/** The messages of a session that are not settled: always few. */
export const unsettledOf = (db: Db, sessionId: string): Promise<Tables['messages'][]> =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('session', '=', sessionId)
    .where('unsettled', '=', sql.lit(1))
    .where('deleted', '=', 0)
    .execute()

const loadKey = (db: Db, { account }: Scope, key: string) =>
  db.selectFrom('keys').selectAll().where('account', '=', account).where('key', '=', key).executeTakeFirst()

const nothing = {
  queue: [],
  messages: new Map(),
  runs: new Map(),
  taken: new Set<string>(),
  path: [],
  below: [],
}

/** What a decision has to see. On the same connection as what follows from it. */
export async function loadView(db: Db, scope: Scope, needs: Needs): Promise<View> {
  const owner = await db
    .selectFrom('sessions')
    .selectAll()
    .where('id', '=', scope.sessionId)
    .executeTakeFirst()
  if (owner?.account !== scope.account) {
    return { ...nothing, session: undefined, foreign: owner !== undefined, active: undefined, key: undefined }
  }
  const taken = new Set<string>()
  const open = await loadOpenRuns(db, scope)
  const queue = open.filter(({ state }) => state === 'queued')
  const active = open.find(({ state }) => state !== 'queued')
  const newest = active?.messages.at(-1)
  const asked = [
    ...(needs.messages ?? []),
    ...(needs.queue ? open.flatMap(({ answers }) => answers ?? []) : []),
  ]
  const rows = await loadMessages(db, scope, asked)
  if (needs.queue && newest !== undefined) rows.push(...(await childrenOf(db, scope, newest)))
  if (needs.unsettled) rows.push(...(await unsettledOf(db, scope.sessionId)))
  const messages = new Map<string, MessageRow>()
  for (const row of rows) {
    if (row.session !== scope.sessionId || row.deleted === 1) taken.add(row.id)
    else if (!messages.has(row.id)) messages.set(row.id, await wholeMessage(db, row))
  }
  const writers = [...messages.values()].flatMap(({ runId }) => runId ?? [])
  const runs = new Map(open.map((run): [string, RunRow] => [run.id, run]))
  for (const run of await loadRuns(db, scope, [...(needs.runs ?? []), ...writers])) {
    if (run.sessionId === scope.sessionId) runs.set(run.id, run)
    else taken.add(run.id)
  }
  const key = needs.key === undefined ? undefined : await loadKey(db, scope, needs.key)
  return {
    session: sessionRow(owner),
    foreign: false,
    active,
    queue,
    messages,
    runs,
    taken,
    key: key && keyRow(key),
    path: needs.path === undefined ? [] : await loadPath(db, scope, needs.path),
    below: needs.below === undefined ? [] : await loadBelow(db, scope, needs.below),
  }
}
