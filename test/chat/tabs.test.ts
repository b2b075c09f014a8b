import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { createHold } from '../../src/testing/scripted-model.ts'
import { likeBrowser } from './browser-tabs.ts'
import { type DirectChat, type DirectSetup, directChat, shown, statuses } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

/** Two tabs of one database. The first one leads. */
async function twoTabs(setup: DirectSetup = {}) {
  const storage = watchedStorage(memoryStorage(), likeBrowser())
  const first = directChat({ ...setup, storage, world: createWorld({ name: 'one' }) })
  await idle()
  const second = directChat({ ...setup, storage: storage.reopen(), world: createWorld({ name: 'two' }) })
  await idle()
  return { first, second, storage }
}

const same = (a: DirectChat, b: DirectChat) =>
  JSON.stringify(a.session.get().messages) === JSON.stringify(b.session.get().messages)

/** Until both show the same, and nothing waits. */
async function expectAgreed(a: DirectChat, b: DirectChat, texts: string[]): Promise<void> {
  const settled = () =>
    same(a, b) &&
    [a, b].every(({ chat, session }) => chat.health.get().outbox === 0 && session.get().status === 'ready') &&
    shown(a.session.get().messages).length === texts.length
  await expect
    .poll(
      async () => {
        await a.world.pass(200)
        await b.world.pass(200)
        return settled()
      },
      { timeout: 5_000, interval: 5 },
    )
    .toBe(true)
  expect(shown(a.session.get().messages)).toEqual(texts)
  expect(a.session.get().messages).toEqual(b.session.get().messages)
}

describe('two tabs of a direct chat', () => {
  test('show the same, whichever of them is spoken in, and ask the model once', async () => {
    const { first, second } = await twoTabs()
    await first.session.send('one')
    await expectAgreed(first, second, ['one', 're: one'])
    expect(second.model.calls.length).toBe(0)
    const sent = await second.session.send('two')
    expect(sent.saved).toBe('disk')
    await expectAgreed(first, second, ['one', 're: one', 'two', 're: two'])
    expect(shown([await sent.answer])).toEqual(['re: two'])
    expect([first.model.calls.length, second.model.calls.length]).toEqual([2, 0])
  })

  test('begin a session in the one that does not lead', async () => {
    const { first, second } = await twoTabs()
    await second.session.send('one')
    await expectAgreed(first, second, ['one', 're: one'])
    expect(first.chat.sessions.get().map(({ id }) => id)).toEqual(['s'])
    expect(second.model.calls.length).toBe(0)
  })

  test('lose nothing when both speak at once, again and again', async () => {
    const { first, second } = await twoTabs()
    for (let round = 0; round < 4; round++) {
      await Promise.all([first.session.send(`a${round}`), second.session.send(`b${round}`)])
      await idle(round)
    }
    await expect
      .poll(
        async () => {
          await first.world.pass(200)
          await second.world.pass(200)
          return [first, second].map(({ session, chat }) => session.get().status + chat.health.get().outbox)
        },
        { timeout: 5_000, interval: 5 },
      )
      .toEqual(['ready0', 'ready0'])
    const rows = (await first.storage.window('s', { limit: 100 })).rows.map(({ message }) => message)
    const said = rows.filter(({ role }) => role === 'user')
    expect(shown(said).toSorted()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', 'b3'])
    expect(statuses(rows).filter((status) => status !== 'user completed')).toEqual(
      Array(8).fill('assistant completed'),
    )
    expect(first.model.calls.length + second.model.calls.length).toBe(8)
    await expect.poll(() => same(first, second)).toBe(true)
    // One after the other: nobody asked for another version of anything.
    expect(first.session.get().messages.length).toBe(16)
  })

  test('put what both say first in one order: no two requests stand in the same place', async () => {
    const offline = () => [{ error: 'network' as const }]
    const { first, second, storage } = await twoTabs({ steps: offline })
    await Promise.all([first.session.send('a'), second.session.send('b')])
    await idle()
    const { outbox } = await storage.window('s', { limit: 10 })
    const places = outbox.map(({ position }) => position)
    expect(places.length).toBeGreaterThan(1)
    expect(new Set(places).size).toBe(places.length)
  })

  test('see each other’s branches, names and deletions', async () => {
    let count = 0
    const { first, second, storage } = await twoTabs({ steps: () => `answer ${++count}` })
    await first.session.send('one')
    await expectAgreed(first, second, ['one', 'answer 1'])
    const [question, reply] = first.session.get().messages
    await second.session.regenerate(reply?.id ?? '')
    await expectAgreed(first, second, ['one', 'answer 2'])
    await second.session.selectBranch(reply?.id ?? '')
    await expectAgreed(first, second, ['one', 'answer 1'])
    await second.session.edit(question?.id ?? '', 'ONE')
    await expectAgreed(first, second, ['ONE', 'answer 3'])
    await second.session.rename('Tides')
    await expect.poll(() => first.chat.sessions.get()[0]?.title).toBe('Tides')
    await expectAgreed(first, second, ['ONE', 'answer 3'])
    expect(second.session.get().session?.title).toBe('Tides')
    expect((await storage.start({ sessions: 9 })).sessions[0]?.session.title).toBe('Tides')
    await second.session.delete()
    await expect.poll(() => [first, second].map(({ chat }) => chat.sessions.get().length)).toEqual([0, 0])
    await first.world.pass(1_000)
    const { sessions, outbox } = await storage.start({ sessions: 9 })
    expect([sessions.map(({ deleted }) => deleted), outbox]).toEqual([[true], []])
  })

  test('stop a run that the other one runs', async () => {
    const hold = createHold()
    const { first, second } = await twoTabs({ steps: [['half ', hold, 'whole']] })
    await first.session.send('one')
    await expect
      .poll(async () => {
        await first.world.pass(200)
        return shown(second.session.get().messages)
      })
      .toEqual(['one', 'half '])
    await second.session.stop()
    await expect.poll(() => statuses(first.session.get().messages).at(-1)).toBe('assistant interrupted')
    hold.release()
    await expectAgreed(first, second, ['one', 'half '])
  })

  test('see an answer grow in the one that does not run it, piece by piece', async () => {
    const hold = createHold()
    const last = createHold()
    const { first, second } = await twoTabs({ steps: [['half ', hold, 'whole', last]] })
    await first.session.send('one')
    await expect
      .poll(async () => {
        await first.world.pass(200)
        return shown(second.session.get().messages)
      })
      .toEqual(['one', 'half '])
    expect(second.session.get().status).toBe('running')
    const reply = second.session.get().messages[1]
    const appended: unknown[] = []
    second.session.message(reply?.id ?? '').onAppend((piece) => appended.push(piece))
    hold.release()
    await expect
      .poll(async () => {
        await first.world.pass(200)
        return appended
      })
      .toEqual([{ index: 0, offset: 5, text: 'whole' }])
    last.release()
    await expectAgreed(first, second, ['one', 'half whole'])
    expect(second.session.message(reply?.id ?? '').get()?.status).toBe('completed')
  })

  test('hand over when the leading one closes: what waits is sent, what was cut off is ended, once', async () => {
    const { first, second } = await twoTabs({
      steps: ({ messages }) => (shown(messages).at(-1) === 'one' ? ['half', { stall: true }] : 'again'),
    })
    await first.session.send('one')
    await first.world.until(() => shown(first.session.get().messages).includes('half'))
    const two = await second.session.send('two')
    await idle()
    await first.chat.close()
    await second.world.ended(two.answer)
    const { messages } = second.session.get()
    expect(statuses(messages)).toContain('assistant interrupted')
    expect(shown(messages).filter((text) => text === 'two').length).toBe(1)
    expect(messages.find(({ id }) => id === two.id)?.status).toBe('completed')
  })

  test('keep what only one of them knows, while its storage fails', async () => {
    const { first, second } = await twoTabs({
      steps: (_, call) => (call === 0 ? 'first' : [{ stall: true }]),
    })
    await first.session.send('one')
    await expectAgreed(first, second, ['one', 'first'])
    second.storage.fail((_, operation) => operation === 'commit')
    const { id, saved } = await second.session.send('two')
    expect(saved).toBe('memory')
    await first.session.rename('Tides')
    await expect.poll(() => second.session.get().session?.title).toBe('Tides')
    expect(second.session.message(id).get()?.status).toBe('pending')
    expect(second.chat.health.get().outbox).toBeGreaterThan(0)
    second.storage.fail()
    await second.world.pass(31_000)
    await expect.poll(() => shown(first.session.get().messages)).toContain('two')
  })

  test('try again what was refused, from the one that does not lead', async () => {
    const hold = createHold()
    const { first, second } = await twoTabs({ steps: [['busy', hold], 'at last'] })
    await first.session.send('one')
    await first.world.until(() => shown(first.session.get().messages).includes('busy'))
    await first.world.pass(200)
    await expect.poll(() => shown(second.session.get().messages)).toEqual(['one', 'busy'])
    const two = await second.session.send('two', { whenBusy: 'refuse' })
    await expect.poll(() => second.session.message(two.id).get()?.status).toBe('failed')
    hold.release()
    await expect.poll(() => statuses(first.session.get().messages)[1]).toBe('assistant completed')
    await second.session.retry(two.id)
    await expectAgreed(first, second, ['one', 'busy', 'two', 'at last'])
    expect(statuses(first.session.get().messages)[2]).toBe('user completed')
  })

  test('do not touch each other’s running answer when one is opened', async () => {
    const hold = createHold()
    const { first, storage } = await twoTabs({ steps: [['half ', hold, 'whole']] })
    await first.session.send('one')
    await first.world.until(() => shown(first.session.get().messages).includes('half '))
    const third = directChat({ storage: storage.reopen(), world: createWorld({ name: 'three' }) })
    await third.world.pass(1_000)
    expect(statuses(third.session.get().messages)).toContain('assistant streaming')
    hold.release()
    await expectAgreed(first, third, ['one', 'half whole'])
  })
})
