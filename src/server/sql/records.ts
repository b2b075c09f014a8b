import type { SessionRecords } from '../../context/session-records.ts'
import { TidemarkError } from '../../lib/errors.ts'
import type { Scope } from '../ports.ts'
import type { Engine } from './store.ts'
import type { Db } from './tables.ts'

/** Whether the account has the session, and it was not deleted. */
async function isLive(db: Db, { account, sessionId }: Scope): Promise<boolean> {
  const found = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('account', '=', account)
    .where('deleted', '=', 0)
    .executeTakeFirst()
  return found !== undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new TidemarkError('storage', 'a record cannot be read', { cause })
  }
}

/** What is derived from one session. Of a session that is not there, nothing is kept. */
export const sqlRecords = (
  { read, write }: Pick<Engine, 'read' | 'write'>,
  scope: Scope,
): SessionRecords => ({
  read: (kind) =>
    read(async (db) => {
      if (!(await isLive(db, scope))) return []
      const rows = await db
        .selectFrom('records')
        .select(['key', 'data'])
        .where('session', '=', scope.sessionId)
        .where('kind', '=', kind)
        .orderBy('key')
        .execute()
      return rows.map(({ key, data }) => ({ key, value: parsed(data) }))
    }),
  write: (kind, put, gone = []) =>
    write(
      async (db) => {
        if (!(await isLive(db, scope))) return
        const session = scope.sessionId
        for (const { key, value } of put) {
          const data = JSON.stringify(value)
          await db
            .insertInto('records')
            .values({ session, kind, key, data })
            .onConflict((on) => on.columns(['session', 'kind', 'key']).doUpdateSet({ data }))
            .execute()
        }
        if (gone.length > 0)
          await db
            .deleteFrom('records')
            .where('session', '=', session)
            .where('kind', '=', kind)
            .where('key', 'in', [...gone])
            .execute()
      },
      { relaxed: true },
    ),
})
