/**
 * A SQLite file as the server's store.
 * @module tidemark/server/sqlite
 */
export { type SqliteStoreOptions, sqliteStore } from './server/sqlite/store.ts'
