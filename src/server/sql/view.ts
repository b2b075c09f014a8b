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
    select m.* from messages m join up on m.id = up.id where m.account = ${account} order by up.depth desc
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
      select m.id, m.parent, m.seq from messages m join below b on m.parent = b.id
        where m.session = ${sessionId} and m.deleted = 0
    )
    select id, parent as "parentId", seq from below
  `.execute(db)
  return rows
}

async function loadRuns(db: Db, { account, sessionId }: Scope, ids: readonly string[]): Promise<RunRow[]> {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', account)
    .where((where) =>
      where.or([
        where.and([where('session', '=', sessionId), where('state', 'in', ['queued', 'running'])]),
        ...(ids.length > 0 ? [where('id', 'in', ids)] : []),
      ]),
    )
    .orderBy('place')
    .execute()
  return rows.map(runRow)
}

async function loadMessages(
  db: Db,
  { account, sessionId }: Scope,
  ids: readonly string[],
  unsettled: boolean,
): Promise<Tables['messages'][]> {
  if (ids.length === 0 && !unsettled) return []
  return db
    .selectFrom('messages')
    .selectAll()
    .where('account', '=', account)
    .where((where) =>
      where.or([
        ...(ids.length > 0 ? [where('id', 'in', ids)] : []),
        ...(unsettled ? [where.and([where('session', '=', sessionId), where('unsettled', '=', 1)])] : []),
      ]),
    )
    .execute()
}

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
  const active = await loadRuns(db, scope, needs.runs ?? [])
  const waiting = active.filter(({ sessionId, state }) => sessionId === scope.sessionId && state === 'queued')
  const asked = [
    ...(needs.messages ?? []),
    ...(needs.queue ? waiting.flatMap(({ answers }) => answers ?? []) : []),
  ]
  const messages = new Map<string, MessageRow>()
  for (const row of await loadMessages(db, scope, asked, needs.unsettled ?? false)) {
    if (row.session !== scope.sessionId || row.deleted === 1) taken.add(row.id)
    else messages.set(row.id, await wholeMessage(db, row))
  }
  const writers = [...messages.values()].flatMap(({ runId }) => runId ?? [])
  const related = writers.length > 0 ? await loadRuns(db, scope, writers) : []
  const runs = new Map<string, RunRow>()
  for (const run of [...active, ...related]) {
    if (run.sessionId === scope.sessionId) runs.set(run.id, run)
    else taken.add(run.id)
  }
  const key = needs.key === undefined ? undefined : await loadKey(db, scope, needs.key)
  return {
    session: sessionRow(owner),
    foreign: false,
    active: [...runs.values()].find(({ state }) => state === 'running'),
    queue: waiting,
    messages,
    runs,
    taken,
    key: key && keyRow(key),
    path: needs.path === undefined ? [] : await loadPath(db, scope, needs.path),
    below: needs.below === undefined ? [] : await loadBelow(db, scope, needs.below),
  }
}
