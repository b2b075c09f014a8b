import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { dexieUnderTest, occupy, settled } from '../storage/dexie-under-test.ts'
import { seen } from '../support/seen.ts'
import { type Large, largeChat } from './large.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

async function database(timeout?: number) {
  const under = await dexieUnderTest(timeout === undefined ? {} : { timeout })
  onTestFinished(under.destroy)
  return under
}

/** Resolves once the chat's storage is as it should be, and nothing waits. */
const untilWell = ({ chat }: Large): Promise<void> =>
  vi.waitFor(() => expect(chat.health.get()).toMatchObject({ storage: 'disk', outbox: 0 }), {
    timeout: 30_000,
  })

/** What the next visit finds, of a session whose first question was this. */
async function expectKept({ reopen }: Awaited<ReturnType<typeof database>>, texts: string[]): Promise<void> {
  const { session, chat } = largeChat(await reopen())
  await seen(session, () => session.get().status !== 'loading')
  expect(session.get().messages.map(textOf)).toEqual(texts)
  await chat.close()
}

/** Lets the n-th transaction from now on meet with something. Returns how many there were. */
function atTransaction(n: number, befall: (tx: IDBTransaction) => void): () => number {
  const original = IDBDatabase.prototype.transaction
  let count = 0
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
    const tx = original.apply(this, args)
    if (++count === n) befall(tx)
    return tx
  })
  return () => count
}

describe('19: in Chromium', () => {
  test('any transaction aborts without an error of a request: what was said is there in the end', async () => {
    for (let n = 1, count = 1; n <= count; n++) {
      const under = await database()
      const transactions = atTransaction(n, (tx) => queueMicrotask(() => tx.abort()))
      const open = largeChat(under.storage)
      const { answer } = await open.session.send('one')
      expect(textOf(await answer)).toBe('one')
      await untilWell(open)
      // What could not be written is tried again, with a pause.
      await vi.waitFor(
        async () => expect((await under.storage.window('s', { limit: 9 })).rows).toHaveLength(2),
        {
          timeout: 10_000,
        },
      )
      count = Math.min(transactions(), 12)
      await open.chat.close()
      vi.restoreAllMocks()
      await expectKept(under, ['one', 'one'])
    }
  })

  test('the database is deleted while the page is open: it is written anew, with all that was said', async () => {
    const under = await database()
    const open = largeChat(under.storage)
    await (await open.session.send('one')).answer
    await untilWell(open)
    await settled(indexedDB.deleteDatabase(under.name))
    const { saved, answer } = await open.session.send('two')
    expect(saved).toBe('disk')
    await answer
    await untilWell(open)
    expect(open.chat.health.get().lastError?.message).toContain('emptied')
    await open.chat.close()
    await expectKept(under, ['one', 'one', 'two', 'two'])
  })

  test('opening is refused, as in a window that keeps nothing: the page works on, and stores it all once it may', async () => {
    const under = await database()
    const opening = vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
      throw new DOMException('Not in this window', 'SecurityError')
    })
    const open = largeChat(under.storage)
    const { saved, answer } = await open.session.send('one')
    expect(saved).toBe('memory')
    expect(textOf(await answer)).toBe('one')
    expect(open.chat.health.get()).toMatchObject({ storage: 'failed', lastError: { code: 'storage' } })
    opening.mockRestore()
    await untilWell(open)
    await vi.waitFor(
      async () => expect((await under.storage.window('s', { limit: 9 })).rows).toHaveLength(2),
      {
        timeout: 30_000,
      },
    )
    await open.chat.close()
    await expectKept(under, ['one', 'one'])
  })

  test('a transaction hangs: the page works on, and stores it all once it is let go', async () => {
    const under = await database(300)
    const open = largeChat(under.storage)
    await (await open.session.send('one')).answer
    await untilWell(open)
    const held = occupy(await under.raw(), 'messages')
    const { saved, answer } = await open.session.send('two')
    expect(saved).toBe('memory')
    expect(textOf(await answer)).toBe('two')
    expect(open.chat.health.get().storage).toBe('failed')
    await held.release()
    await untilWell(open)
    await vi.waitFor(
      async () => expect((await under.storage.window('s', { limit: 9 })).rows).toHaveLength(4),
      {
        timeout: 30_000,
      },
    )
    await open.chat.close()
    await expectKept(under, ['one', 'one', 'two', 'two'])
  })
})
