import type { Database } from 'better-sqlite3'

/** Every table, and the column that names the session. */
const TABLES = {
  sessions: 'id',
  messages: 'session',
  events: 'session',
  runs: 'session',
  keys: 'session',
  records: 'session',
}

/** A copy of a server's database, to put it back to. */
export interface Backup {
  save(): void
  /** Sessions of which a restore would lose something, and the number of the last event that it would leave. */
  losses(): Map<string, number>
  /** Puts back what can be: sessions that were there and still are. Returns their ids; where there are none, saves instead. */
  restore(): string[]
}

type Row = Record<string, unknown>

export function createBackup(db: Database): Backup {
  const saved = new Map<string, Row[]>()
  const rowsOf = (table: string) => db.prepare<[], Row>(`select * from ${table}`).all()
  const alive = (rows: readonly Row[]) =>
    rows.flatMap(({ id, deleted }) => (deleted === 0 ? [String(id)] : []))
  const put = (table: string, row: Row) => {
    const names = Object.keys(row)
    db.prepare(`insert into ${table} (${names}) values (${names.map((name) => `@${name}`)})`).run(row)
  }
  const restore = () => {
    const now = alive(rowsOf('sessions'))
    const ids = alive(saved.get('sessions') ?? []).filter((id) => now.includes(id))
    for (const [table, column] of Object.entries(TABLES)) {
      for (const id of ids) db.prepare(`delete from ${table} where ${column} = ?`).run(id)
      for (const row of saved.get(table) ?? []) if (ids.includes(String(row[column]))) put(table, row)
    }
    return ids
  }
  const save = () => {
    for (const table of Object.keys(TABLES)) saved.set(table, rowsOf(table))
  }
  const losses = () => {
    const now = new Map(
      rowsOf('sessions').map(({ id, events }): [string, number] => [String(id), Number(events)]),
    )
    const then = alive(saved.get('sessions') ?? []).filter((id) => now.has(id))
    const left = new Map((saved.get('sessions') ?? []).map(({ id, events }) => [String(id), Number(events)]))
    return new Map(
      then.flatMap((id): [string, number][] => {
        const last = left.get(id) ?? 0
        return last < (now.get(id) ?? 0) ? [[id, last]] : []
      }),
    )
  }
  return {
    save,
    losses,
    restore() {
      const ids = db.transaction(restore)()
      if (ids.length === 0) save()
      return ids
    },
  }
}
