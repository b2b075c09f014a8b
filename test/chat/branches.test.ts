import { describe, expect, test } from 'vitest'
import { directChat, ending, lookInto, outboxOf, shown, statuses } from './direct-chat.ts'
import { expectStored, watchedStorage } from './storages.ts'
import { idle, noStrayRejections } from './world.ts'

noStrayRejections()

async function talk(steps: string[], texts: string[]) {
  const open = directChat({ steps })
  for (const text of texts) await (await open.session.send(text)).answer
  await idle()
  const ids = open.session.get().messages.map(({ id }) => id)
  return { ...open, ids, id: (at: number) => ids[at] ?? '' }
}

describe('branches of a direct chat', () => {
  test('another answer stands beside the first, and either can be looked at', async () => {
    const { session, id, chat, storage } = await talk(['first', 'second'], ['one'])
    const again = await session.regenerate(id(1))
    expect(again.id).toBe(id(0))
    expect(shown([await again.answer])).toEqual(['second'])
    expect(shown(session.get().messages)).toEqual(['one', 'second'])
    const other = session.get().messages[1]?.id ?? ''
    expect(session.branches(other)).toEqual([id(1), other])
    await session.selectBranch(id(1))
    expect(shown(session.get().messages)).toEqual(['one', 'first'])
    await session.selectBranch(other)
    expect(shown(session.get().messages)).toEqual(['one', 'second'])
    await idle()
    await expectStored(chat, session, storage)
    const look = lookInto(storage)
    await look.world.until(() => look.session.get().status === 'ready')
    expect(shown(look.session.get().messages)).toEqual(['one', 'second'])
  })

  test('an edited question begins a branch, and the old one is there with all that followed it', async () => {
    const { session, id, model, chat, storage } = await talk(['a1', 'a2', 'b1', 'b2'], ['one', 'two'])
    const edited = await session.edit(id(0), 'ONE')
    await edited.answer
    expect(shown(session.get().messages)).toEqual(['ONE', 'b1'])
    expect(model.calls[2]?.context.messages.length).toBe(1)
    await (await session.send('more')).answer
    expect(shown(session.get().messages)).toEqual(['ONE', 'b1', 'more', 'b2'])
    expect(session.branches(edited.id)).toEqual([id(0), edited.id])
    await session.selectBranch(id(0))
    expect(shown(session.get().messages)).toEqual(['one', 'a1', 'two', 'a2'])
    await session.selectBranch(edited.id)
    expect(shown(session.get().messages)).toEqual(['ONE', 'b1', 'more', 'b2'])
    await idle()
    await expectStored(chat, session, storage)
  })

  test('a failed answer stays, and the new one is beside it', async () => {
    const steps = (_: unknown, call: number) =>
      call === 0 ? ['half', { error: 'refusal' as const }] : 'whole'
    const open = directChat({ steps })
    const { session } = open
    const failed = await (await session.send('one')).answer
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'refusal' } })
    const again = await session.retry(failed.id)
    expect(shown([await again.answer])).toEqual(['whole'])
    expect(session.branches(failed.id).length).toBe(2)
    expect(session.message(failed.id).get()).toEqual(failed)
    await idle()
    await expectStored(open.chat, session, open.storage)
  })

  test('a new answer is asked for while the old one is hidden, and only once shown', async () => {
    const { session, id } = await talk(['first', 'second'], ['one'])
    const asking = session.regenerate(id(1))
    await idle(0)
    const { answer } = await asking
    expect(await answer).toMatchObject({ parentId: id(0) })
    expect(shown(session.get().messages)).toEqual(['one', 'second'])
  })

  test('another answer that is not wanted any more leaves the old one in sight', async () => {
    const half = ['half', { error: 'refusal' as const }] as const
    const { session, model, chat, storage } = directChat({ steps: [half] })
    const { id } = await (await session.send('one')).answer
    await idle()
    for (const ask of [session.regenerate, session.continue]) {
      const asked = ask(id)
      await session.stop()
      expect(await ending((await asked).answer)).toBe('aborted')
      await idle()
      expect(shown(session.get().messages)).toEqual(['one', 'half'])
      await expectStored(chat, session, storage)
    }
    expect(model.calls.length).toBe(1)
  })

  test('what is not there, or not a question, is refused', async () => {
    const { session, id } = await talk(['first'], ['one'])
    expect(await ending(session.regenerate('nobody'))).toBe('not-found')
    expect(await ending(session.retry('nobody'))).toBe('not-found')
    expect(await ending(session.edit('nobody', 'x'))).toBe('not-found')
    expect(await ending(session.edit(id(1), 'x'))).toBe('invalid-request')
    expect(await ending(session.edit(id(0), ''))).toBe('invalid-request')
    expect(await ending(session.selectBranch('nobody'))).toBe('not-found')
    expect(await ending(session.discard('nobody'))).toBe('not-found')
    expect(await ending(session.discard(id(0)))).toBe('not-found')
    expect(session.branches('nobody')).toEqual([])
    expect(shown(session.get().messages)).toEqual(['one', 'first'])
  })
})

describe('a session', () => {
  test('is listed with its title, newest first, and stored so', async () => {
    const { session, chat, storage } = await talk(['first'], ['one'])
    await session.rename('Tides')
    expect(session.get().session?.title).toBe('Tides')
    const other = chat.session('t')
    await other.send('elsewhere')
    await idle()
    expect(chat.sessions.get().map(({ id }) => id)).toEqual(['t', 's'])
    await expectStored(chat, session, storage).catch(() => undefined)
    const look = lookInto(storage)
    await look.world.until(() => look.chat.sessions.get().length === 2)
    expect(look.chat.sessions.get().map(({ title }) => title)).toEqual([undefined, 'Tides'])
  })

  test('has no name before it has a word, and none that is too long', async () => {
    const { session } = directChat()
    expect(await ending(session.rename('x'))).toBe('not-found')
    await (await session.send('one')).answer
    expect(await ending(session.rename('x'.repeat(501)))).toBe('invalid-request')
    await idle()
    expect(session.get().session?.title).toBeUndefined()
  })

  test('that is deleted is gone from list and storage, with what ran and what waited', async () => {
    const { session, chat, storage, world } = directChat({ steps: [['half', { stall: true }]] })
    const one = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('half'))
    const two = await session.send('two')
    await session.delete()
    expect(await ending(one.answer)).toBe('not-found')
    expect(await ending(two.answer)).toBe('not-found')
    expect(chat.sessions.get()).toEqual([])
    await idle()
    const { session: left, rows, outbox } = await storage.window('s', { limit: 10 })
    expect([left?.deleted, left?.session.title, rows, outbox]).toEqual([true, undefined, [], []])
    expect(session.get()).toMatchObject({ status: 'ready', messages: [], error: { code: 'not-found' } })
    await session.delete()
    await session.stop()
    for (const call of [session.send('x'), session.rename('x'), session.regenerate(one.id)])
      expect(await ending(call)).toBe('not-found')
    for (const call of [session.loadOlder(), session.resync()]) expect(await ending(call)).toBe('not-found')
    await world.pass(60_000)
    const look = lookInto(storage)
    await look.world.until(() => look.session.get().status === 'ready')
    expect(look.chat.sessions.get()).toEqual([])
    expect(look.session.get()).toMatchObject({ messages: [], error: { code: 'not-found' } })
    expect(await ending(look.session.send('x'))).toBe('not-found')
  })
})

test('a storage that is read again shows the same, question by question', async () => {
  const storage = watchedStorage()
  const first = directChat({ storage })
  for (const text of ['one', 'two', 'three']) await (await first.session.send(text)).answer
  await first.session.edit(first.session.get().messages[2]?.id ?? '', 'TWO')
  await first.world.until(() => statuses(first.session.get().messages).length === 4)
  await first.world.until(() => first.session.get().status === 'ready')
  await first.chat.close()
  const again = directChat({ storage: storage.reopen() })
  await again.world.until(() => again.session.get().status === 'ready')
  expect(again.session.get().messages).toEqual(first.session.get().messages)
  expect(again.session.get().tidemark).toBe(first.session.get().tidemark)
  expect(again.session.branches(first.session.get().messages[2]?.id ?? '').length).toBe(2)
  expect(await outboxOf(again.storage)).toEqual([])
})
