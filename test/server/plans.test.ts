import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod/mini'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createSession, feedUntil, pageOf, sendBody, stage } from './stage.ts'

const Plan = z.array(z.object({ detail: z.string() }))

/** A database that remembers what it was asked. */
function listening(): { db: Sqlite.Database; asked: Set<string> } {
  const db = new Sqlite(':memory:')
  onTestFinished(() => {
    db.close()
  })
  const asked = new Set<string>()
  const prepare = db.prepare.bind(db)
  db.prepare = (text: string) => {
    asked.add(text)
    return prepare(text)
  }
  return { db, asked }
}

/** How SQLite would find the rows. */
function planOf(db: Sqlite.Database, text: string): string[] {
  const parameters = Array.from({ length: text.match(/\?/g)?.length ?? 0 }, () => 1)
  return Plan.parse(db.prepare(`explain query plan ${text}`).all(parameters)).map(({ detail }) => detail)
}

/** A walk through a whole table. The index of open runs holds only those, and what a recursion has found is its own. */
const isScan = (detail: string) => /^SCAN (?!r USING INDEX runs_open|up$|b$|below$)/.test(detail)
/** As good as that: all rows of an account; or of a session, again and again in a join. */
const isWide = (detail: string) =>
  /^SEARCH (?!sessions).*\(account=\?\)$|^SEARCH m .*\(session=\?\)$/.test(detail)
const isWalk = (detail: string) => isScan(detail) || isWide(detail)

test('no request reads a whole table', async () => {
  const { db, asked } = listening()
  const store = sqliteStore(db)
  const { ask } = stage({ store, keepEvents: 1 })
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  await feedUntil(ask, 'run-m1')
  const first = (await pageOf(ask)).messages.at(1)?.id ?? ''
  for (const query of ['?after=m1', `?before=${first}`, '?changedSince=0', '?after=x'])
    await pageOf(ask, query)
  const commands = [
    { type: 'regenerate', messageId: first, runId: 'r2' },
    { type: 'edit', messageId: 'm1', newId: 'm2', runId: 'r3', content: [{ type: 'text', text: 'x' }] },
    { type: 'selectBranch', messageId: first },
    { type: 'cancel', runId: 'r4' },
  ]
  for (const [at, body] of commands.entries()) {
    expect((await ask('POST', '/sessions/s1/commands', { id: `c${at}`, ...body })).status).toBe(202)
  }
  await feedUntil(ask, 'r3')
  await ask('GET', '/sessions')
  await ask('GET', '/sessions?after=s1')
  await store.stale(0, 10)
  await ask('DELETE', '/sessions/s1')
  const queries = [...asked].filter((text) => /^\s*(select|with|insert|update|delete)/i.test(text))
  expect(queries.length).toBeGreaterThan(20)
  const walks = queries.flatMap((text) =>
    planOf(db, text)
      .filter(isWalk)
      .map((detail) => `${detail}: ${text}`),
  )
  expect(walks).toEqual([])
})
