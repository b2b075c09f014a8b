import { describe, expect, test } from 'vitest'
import { createHold } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import { directChat, ending, outboxOf, shown, statuses } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

describe('close', () => {
  test('at any moment of anything ends everything, and leaves no timer', async () => {
    for (let turns = 0; turns < 40; turns++) {
      const { session, chat, storage, world } = directChat({ chunkSize: 1 })
      const calls = [
        session.send('one'),
        session.send('two'),
        session.stop(),
        session.rename('x'),
        session.loadOlder(),
        session.resync(),
      ]
      const ended = Promise.all(calls.map((call) => ending(call)))
      await idle(Math.floor(turns / 4))
      if (turns % 4 === 1) storage.fail(() => true)
      const twice = [chat.close(), chat.close()]
      expect(twice[0]).toBe(twice[1])
      await Promise.all(twice)
      await ended
      expect(world.sleeping()).toBe(0)
      const asked = storage.asked()
      await world.pass(60_000)
      expect(storage.asked()).toBe(asked)
    }
  })

  test('at any moment of coming back, with an answer that was cut off, leaves no timer', async () => {
    for (let turns = 0; turns < 30; turns++) {
      const first = directChat({ steps: [['half an ', { stall: true }]] })
      await first.session.send('one')
      await first.session.send('two')
      await first.world.until(() => shown(first.session.get().messages).includes('half an '))
      await first.world.pass(200)
      const again = directChat({ storage: first.storage.reopen(), world: createWorld({ name: `n${turns}` }) })
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await again.chat.close()
      await idle()
      expect(again.world.sleeping()).toBe(0)
      const asked = again.storage.asked()
      await again.world.pass(60_000)
      expect(again.storage.asked()).toBe(asked)
    }
  })

  test('stores the partial answer as interrupted, and tells those who wait for it', async () => {
    const { session, chat, storage, world } = directChat({ steps: [['half an ', { stall: true }]] })
    const { answer } = await session.send('one')
    const two = await session.send('two')
    await world.until(() => shown(session.get().messages).includes('half an '))
    await chat.close()
    expect(await ending(answer)).toMatchObject({ status: 'interrupted' })
    expect(await ending(two.answer)).toBe('aborted')
    const { rows, outbox } = await storage.reopen().window('s', { limit: 9 })
    const messages = rows.map(({ message }) => message)
    expect(shown(messages)).toEqual(['one', 'half an ', 'two'])
    expect(statuses(messages)).toEqual(['user completed', 'assistant interrupted', 'user pending'])
    expect(outbox.map(({ id }) => id)).toEqual([two.id])
  })

  test('waits for what is being stored', async () => {
    const { session, chat, storage } = directChat({ steps: [[{ stall: true }]] })
    await idle()
    const release = storage.hold()
    const sending = session.send('one')
    await idle()
    const closing = chat.close()
    await idle()
    release()
    expect((await sending).saved).toBe('disk')
    await closing
    expect((await storage.reopen().window('s', { limit: 9 })).rows.length).toBeGreaterThan(0)
  })

  test('leaves nothing that can be done, and says so', async () => {
    const { session, chat } = directChat()
    const { id, answer } = await session.send('one')
    await answer
    await chat.close()
    expect(() => chat.session('t')).toThrow(/closed/)
    expect(chat.session('s')).toBe(session)
    const calls = [
      session.send('x'),
      session.stop(),
      session.retry(id),
      session.regenerate(id),
      session.edit(id, 'x'),
      session.selectBranch(id),
      session.discard(id),
      session.rename('x'),
      session.delete(),
      session.loadOlder(),
      session.resync(),
    ]
    expect(await Promise.all(calls.map(ending))).toEqual(calls.map(() => 'aborted'))
    expect(shown(session.get().messages)).toEqual(['one', 're: one'])
    expect(chat.health.get().storage).toBe('disk')
  })

  test('at once after the beginning is no failure of the storage', async () => {
    const { chat, storage } = directChat()
    const told: string[] = []
    chat.health.subscribe(() => told.push(chat.health.get().storage))
    await chat.close()
    await idle()
    expect(told).toEqual([])
    expect(chat.health.get().lastError).toBeUndefined()
    expect(storage.commits).toEqual([])
  })
})

describe('a reload in mid-answer', () => {
  test('keeps the text that was stored, as interrupted, and asks again only when told to', async () => {
    const storage = watchedStorage()
    const first = directChat({
      storage,
      steps: [[{ thinking: 'hm' }, 'one ', 'two ', { stall: true }]],
      chunkSize: 1,
    })
    const sent = await first.session.send('count')
    await first.world.until(() => shown(first.session.get().messages).includes('one two '))
    await first.world.pass(200)
    // The page is gone without a word: whatever is in memory is lost.
    const again = directChat({
      storage: storage.reopen(),
      steps: ['three'],
      world: createWorld({ name: 'new' }),
    })
    await again.world.until(() => again.session.get().messages[1]?.status === 'interrupted')
    const [, partial] = again.session.get().messages
    expect(partial).toMatchObject({
      status: 'interrupted',
      stopReason: 'aborted',
      content: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'one two ' },
      ],
    })
    await again.world.pass(60_000)
    expect(again.model.calls.length).toBe(0)
    expect(await outboxOf(again.storage)).toEqual([])
    const other = await again.session.retry(partial?.id ?? '')
    expect(shown([await other.answer])).toEqual(['three'])
    expect(again.session.branches(partial?.id ?? '').length).toBe(2)
    expect(again.session.message(sent.id).get()?.status).toBe('completed')
  })

  test('at any moment loses no question, and asks none twice', async () => {
    for (let turns = 0; turns < 30; turns++) {
      const storage = watchedStorage()
      const first = directChat({ storage, chunkSize: 3 })
      const { id, saved } = await first.session.send('one')
      expect(saved).toBe('disk')
      await idle(turns)
      const kept = storage.reopen()
      storage.fail(() => true)
      const again = directChat({ storage: kept, world: createWorld({ name: `new-${turns}` }) })
      await again.world.until(() => {
        const { messages, status } = again.session.get()
        return (
          status === 'ready' && messages.length === 2 && messages.every(({ status }) => status !== 'pending')
        )
      })
      const [question, reply] = again.session.get().messages
      expect(question).toMatchObject({ id, status: 'completed' })
      expect(reply?.parentId).toBe(id)
      expect(again.session.branches(reply?.id ?? '').length).toBe(1)
      if (reply?.status === 'completed') expect(shown([reply])).toEqual(['re: one'])
      else expect('re: one'.startsWith(shown(reply ? [reply] : [])[0] ?? '')).toBe(true)
      await idle()
      expect(await outboxOf(kept)).toEqual([])
    }
  })

  test('with a tool at work goes on: the model is told that it may have been carried out', async () => {
    const storage = watchedStorage()
    const hold = createHold()
    const clock = tool({ name: 'clock', parameters: { type: 'object' }, execute: () => hold.hold })
    const steps = [[{ toolCall: { name: 'clock', arguments: {} } }], 'noon']
    const first = directChat({ storage, steps, tools: [clock] })
    await first.session.send('when?')
    await first.world.until(() => first.session.get().messages.at(-1)?.role === 'tool')
    await idle()
    const world = createWorld({ name: 'new' })
    const again = directChat({ storage: storage.reopen(), steps: ['noon'], tools: [clock], world })
    await again.world.until(() => shown(again.session.get().messages).at(-1) === 'noon')
    expect(statuses(again.session.get().messages)).toEqual([
      'user completed',
      'assistant completed',
      'tool completed',
      'assistant completed',
    ])
    expect(again.session.get().messages[2]).toMatchObject({ role: 'tool', isError: true })
    hold.release()
  })
})
