/**
 * Chats in the browser's IndexedDB.
 * @module tidemark/dexie
 */
export { type DexieStorageOptions, dexieStorage } from './storage/dexie.ts'
