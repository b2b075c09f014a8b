import { Dexie } from 'dexie'
import { TidemarkError } from '../lib/errors.ts'
import { closedError } from './failure.ts'
import type { SchemaVersion } from './schema.ts'

/** The one connection to a database, opened when it is first asked for, and again when it was lost. */
export interface Connection {
  open(): Promise<IDBDatabase>
  /** Gives the present handle up; the next `open` gets another. */
  drop(): void
  /** For good. */
  close(): void
}

/** IndexedDB keeps versions as whole numbers, Dexie ten times its own. */
const native = (version: number): number => Math.round(version * 10)

/**
 * An IndexedDB that opens one version only. Dexie would open a database of a newer version than it was told about, and
 * add to it what its own schema has besides; code that is older than what is stored must not write.
 */
function atVersion(factory: IDBFactory, version: number): IDBFactory {
  return {
    open(name, asked) {
      if (asked === version) return factory.open(name, asked)
      throw new TidemarkError(
        'storage',
        `VersionError: database "${name}" was written by a newer version of this app; this one leaves it alone`,
      )
    },
    deleteDatabase: (name) => factory.deleteDatabase(name),
    databases: () => factory.databases(),
    cmp: (a, b) => factory.cmp(a, b),
  }
}

async function connect(name: string, versions: readonly SchemaVersion[]): Promise<Dexie> {
  const newest = Math.max(...versions.map(({ version }) => version))
  const dexie = new Dexie(name, {
    indexedDB: atVersion(globalThis.indexedDB, native(newest)),
    IDBKeyRange: globalThis.IDBKeyRange,
    // Add-ons that the app registered for its own databases are not meant for this one.
    addons: [],
    autoOpen: false,
  })
  for (const { version, tables, upgrade } of versions) {
    const declared = dexie.version(version).stores({ ...tables })
    if (upgrade) declared.upgrade(upgrade)
  }
  // Another tab's upgrade, or the deletion of the database, never waits for this one. False keeps Dexie from logging.
  dexie.on('versionchange', () => {
    dexie.close()
    return false
  })
  dexie.on('blocked', () => false)
  await dexie.open()
  return dexie
}

export function createConnection(name: string, versions: readonly SchemaVersion[]): Connection {
  let current: Promise<Dexie> | undefined
  let closed = false

  function drop(): void {
    const dropped = current
    current = undefined
    // One that never opened has told whoever waited for it.
    dropped?.then((dexie) => dexie.close()).catch(() => undefined)
  }

  async function open(): Promise<IDBDatabase> {
    if (closed) throw closedError()
    current ??= connect(name, versions)
    const own = current
    const dexie = await own.catch((thrown: unknown) => {
      // The next call tries again.
      if (current === own) current = undefined
      throw thrown
    })
    if (closed) throw closedError()
    if (dexie.isOpen()) return dexie.backendDB()
    // Closed meanwhile: by the browser, or for another tab's upgrade.
    if (current === own) current = undefined
    return open()
  }

  return {
    open,
    drop,
    close() {
      closed = true
      drop()
    },
  }
}
