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
  /** What is stored of each session, to be compared: what was accepted and not told of yet is lost like all else. */
  const byId = (rowsOf: (table: string) => Row[]) => {
    const stored = new Map<string, string>()
    for (const [table, column] of Object.entries(TABLES))
      for (const row of rowsOf(table)) {
        const id = String(row[column])
        stored.set(id, `${stored.get(id) ?? ''}${JSON.stringify(row)}`)
      }
    return stored
  }
  const losses = () => {
    const sessions = saved.get('sessions') ?? []
    const [now, then] = [byId(rowsOf), byId((table) => saved.get(table) ?? [])]
    const left = new Map(sessions.map(({ id, events }) => [String(id), Number(events)]))
    const lost = alive(sessions).filter((id) => now.has(id) && now.get(id) !== then.get(id))
    return new Map(lost.map((id): [string, number] => [id, left.get(id) ?? 0]))
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
