import 'fake-indexeddb/auto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { storageOver } from '../../src/storage/dexie.ts'
import { type SchemaVersion, VERSIONS } from '../../src/storage/schema.ts'
import { directChat, shown, statuses } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat } from '../runtime/remote-chat.ts'
import { openRoom, scriptedServer } from '../runtime/scripted-server.ts'
import { databaseName, dump, settled } from '../storage/dexie-under-test.ts'
import { writeFirstRelease } from './first-release.ts'

noStrayRejections()

/** What a later release could bring: a table more, and rows in another form. */
const LATER: readonly SchemaVersion[] = [
  ...VERSIONS,
  {
    version: VERSIONS.length + 1,
    tables: { notes: 'id' },
    upgrade: (transaction) =>
      transaction
        .table('sessions')
        .toCollection()
        .modify((row) => {
          row.session.metadata = { moved: true }
        }),
  },
]

/** A database of the first release, and code of any version to open it with. */
async function released(write = writeFirstRelease) {
  const name = databaseName()
  await write(name)
  const open = (versions: readonly SchemaVersion[]) => {
    const storage = storageOver(name, versions)
    onTestFinished(() => storage.close())
    return watchedStorage(storage)
  }
  const look = async () => {
    const db = await settled(indexedDB.open(name))
    const rows = await dump(db)
    db.close()
    return { version: db.version, rows }
  }
  return { open, look }
}

describe('21: the database of the first release', () => {
  test.each([
    ['today’s code', VERSIONS],
    ['the code of a later release', LATER],
  ])('is opened by %s with every row in its place, and what waited is sent', async (_, versions) => {
    const { open } = await released()
    const { session, chat, world, model } = directChat({ storage: open(versions), steps: ['Low water'] })
    await world.until(() => session.get().status !== 'loading')
    expect(session.get().session?.title).toBe('Tides')
    expect(session.get().session?.metadata).toEqual(versions === LATER ? { moved: true } : {})
    await world.until(() => session.get().messages.length === 4 && chat.health.get().outbox === 0)
    expect(shown(session.get().messages)).toEqual(['one', 'High water', 'two', 'Low water'])
    expect(statuses(session.get().messages)).toEqual([
      'user completed',
      'assistant interrupted',
      'user completed',
      'assistant completed',
    ])
    expect(model.calls).toHaveLength(1)
  })
})

describe('21: an old tab while a newer one has moved the database on', () => {
  test('works on from memory and the network, says so once, and writes nothing', async () => {
    const { open, look } = await released(async () => {})
    const server = scriptedServer()
    const old = remoteChat({ server, storage: open(VERSIONS), world: createWorld({ name: 'old' }) })
    await old.world.ended((await old.world.ended(old.session.send('one'))).answer)
    await old.world.pass(1_000)
    const newer = open(LATER)
    await newer.start({ sessions: 1 })
    const before = await look()
    expect(before.version).toBe(10 * (VERSIONS.length + 1))
    const errors = new Set<unknown>([old.chat.health.get().lastError])
    old.chat.health.subscribe(() => errors.add(old.chat.health.get().lastError))
    const { saved, answer } = await old.world.ended(old.session.send('three'))
    expect(saved).toBe('memory')
    expect(shown([await old.world.ended(answer)])).toEqual(['re: three'])
    await old.world.pass(60_000)
    expect(old.chat.health.get()).toMatchObject({ storage: 'failed', lastError: { code: 'storage' } })
    expect(old.chat.health.get().lastError?.message).toContain('newer version')
    expect(errors.size).toBe(2)
    expect((await look()).rows).toEqual(before.rows)
    // The newer one has it from the server.
    const next = remoteChat({ server, storage: newer, world: createWorld({ name: 'next' }) })
    await next.world.until(() => shown(next.session.get().messages).includes('re: three'))
    await expectInStep(next)
  })

  test('the same code brought back over what a newer one wrote reads nothing and writes nothing', async () => {
    const { open, look } = await released()
    await open(LATER).start({ sessions: 1 })
    const before = await look()
    const server = scriptedServer()
    openRoom(server, 's')
    const back = remoteChat({ server, storage: open(VERSIONS) })
    const { saved, answer } = await back.world.ended(back.session.send('hello'))
    expect(saved).toBe('memory')
    expect(shown([await back.world.ended(answer)])).toEqual(['re: hello'])
    expect(back.chat.health.get()).toMatchObject({ storage: 'failed', outbox: 0 })
    expect(await look()).toEqual(before)
  })

  test('an upgrade that was killed half-way is made whole by the next visit, with every row', async () => {
    const { open, look } = await released()
    const killed: SchemaVersion[] = LATER.map((version) => ({ ...version }))
    const last = killed.at(-1)
    if (last)
      last.upgrade = async (transaction) => {
        await transaction.table('messages').clear()
        transaction.abort()
      }
    const before = await look()
    await expect(open(killed).start({ sessions: 1 })).rejects.toMatchObject({ code: 'storage' })
    expect(await look()).toEqual(before)
    const { session, world } = directChat({ storage: open(LATER), steps: ['Low water'] })
    await world.until(() => session.get().messages.length === 4)
    expect(session.get().session?.metadata).toEqual({ moved: true })
  })
})
