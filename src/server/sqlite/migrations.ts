import type { Database } from 'better-sqlite3'
import { TidemarkError } from '../../lib/errors.ts'

/** One step of the schema, in order; once released, a step never changes. */
interface Migration {
  name: string
  sql: string
}

const MIGRATIONS: readonly Migration[] = [
  {
    name: 'sessions, messages, events, runs, keys',
    sql: `
      create table sessions (
        id text primary key,
        account text not null,
        recency integer not null,
        seq integer not null,
        rev integer not null,
        events integer not null,
        tag text,
        trimmed integer not null,
        published integer not null,
        epoch integer not null,
        deleted integer not null,
        data text not null
      ) strict;
      create index sessions_recent on sessions (account, recency);

      create table messages (
        account text not null,
        id text not null,
        session text not null,
        parent text,
        seq integer not null,
        rev integer not null,
        unsettled integer not null,
        deleted integer not null,
        run text,
        folded integer not null,
        data text not null,
        primary key (account, id)
      ) strict;
      create unique index messages_seq on messages (session, seq);
      create unique index messages_rev on messages (session, rev);
      create index messages_parent on messages (session, parent);
      create index messages_unsettled on messages (session) where unsettled = 1;

      create table events (
        session text not null,
        n integer not null,
        tag text not null,
        message text,
        data text not null,
        primary key (session, n)
      ) strict;
      create index events_journal on events (session, message, n) where message is not null;

      create table runs (
        account text not null,
        id text not null,
        session text not null,
        kind text not null,
        state text not null,
        place integer not null,
        answers text,
        messages text not null,
        epoch integer not null,
        lease integer not null,
        outcome text,
        ended integer,
        primary key (account, id)
      ) strict;
      create unique index runs_one on runs (session) where state = 'running';
      create index runs_open on runs (session, place) where state in ('queued', 'running');
      create index runs_session on runs (session);

      create table keys (
        account text not null,
        key text not null,
        session text not null,
        hash text not null,
        message text,
        run text,
        n integer not null,
        tag text not null,
        primary key (account, key)
      ) strict;
      create index keys_session on keys (session);
    `,
  },
  {
    name: 'runs that wait for somebody',
    sql: `
      drop index runs_open;
      create index runs_open on runs (session, place) where state in ('queued', 'running', 'waiting');
      drop index runs_one;
      create unique index runs_one on runs (session) where state in ('running', 'waiting');
    `,
  },
  {
    name: 'records',
    sql: `
      create table records (
        session text not null,
        kind text not null,
        key text not null,
        data text not null,
        primary key (session, kind, key)
      ) strict;
    `,
  },
]

const versionOf = (db: Database): number => Number(db.pragma('user_version', { simple: true }))

/**
 * Brings the file to the schema of this code, in one transaction. Throws `storage` for a file that newer code has written:
 * older code does not touch it.
 */
export function migrate(db: Database, now: number): void {
  const apply = db.transaction(() => {
    const version = versionOf(db)
    if (version > MIGRATIONS.length) {
      throw new TidemarkError(
        'storage',
        `the database has schema ${version}, this version knows ${MIGRATIONS.length}`,
      )
    }
    db.exec(
      'create table if not exists migrations (version integer primary key, name text not null, applied integer not null) strict',
    )
    for (const [at, { name, sql }] of MIGRATIONS.entries()) {
      if (at < version) continue
      db.exec(sql)
      db.prepare('insert into migrations (version, name, applied) values (?, ?, ?)').run(at + 1, name, now)
    }
    db.pragma(`user_version = ${MIGRATIONS.length}`)
  })
  apply.immediate()
}
