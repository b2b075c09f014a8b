import { describe, expect, test } from 'vitest'
import { createHold } from '../../src/testing/scripted-model.ts'
import { directChat, ending, lookInto, outboxOf, shown, statuses } from './direct-chat.ts'
import { expectStored, watchedStorage } from './storages.ts'
import { idle, noStrayRejections } from './world.ts'

noStrayRejections()

describe('send', () => {
  test('says disk only after the message and its outbox row were stored in one transaction', async () => {
    const { session, storage } = directChat({ steps: [[{ stall: true }]] })
    const release = storage.hold()
    let sent: unknown
    const sending = session.send('one').then((result) => {
      sent = result
      return result
    })
    await idle()
    expect(shown(session.get().messages)).toEqual(['one'])
    expect(sent).toBeUndefined()
    release()
    const { id, saved } = await sending
    expect(saved).toBe('disk')
    const batch = storage.commits.find(({ changes }) =>
      changes.some((change) => change.type === 'message' && change.row.message.id === id),
    )
    expect(batch?.changes.map(({ type }) => type).toSorted()).toEqual([
      'message',
      'outbox',
      'outbox',
      'session',
    ])
    expect(batch?.options?.durability).toBe('strict')
  })

  test('keeps message and row together also behind a slow write', async () => {
    const { session, storage, world } = directChat({ steps: [[{ stall: true }]] })
    await world.until(() => session.get().status === 'ready')
    const release = storage.hold()
    const sending = [session.send('one'), session.send('two'), session.send('three')]
    await idle()
    release()
    for (const { id } of await Promise.all(sending)) {
      const first = storage.commits.find(({ changes }) =>
        changes.some(
          (change) =>
            (change.type === 'message' && change.row.message.id === id) ||
            (change.type === 'outbox' && change.row.id === id),
        ),
      )
      const types = first?.changes.flatMap((change) => {
        if (change.type === 'message') return change.row.message.id === id ? ['message'] : []
        return change.type === 'outbox' && change.row.id === id ? ['outbox'] : []
      })
      expect(types?.toSorted()).toEqual(['message', 'outbox'])
    }
  })

  test('says memory where the storage refuses, sends all the same, and stores everything once it works', async () => {
    const storage = watchedStorage()
    storage.fail((_, operation) => operation === 'commit')
    const { session, chat, world } = directChat({ storage })
    const sent = await session.send('one')
    expect(sent.saved).toBe('memory')
    expect(shown([await sent.answer])).toEqual(['re: one'])
    expect(chat.health.get()).toMatchObject({ storage: 'failed', lastError: { code: 'storage' } })
    expect(await outboxOf(storage)).toEqual([])
    storage.fail()
    await world.until(() => chat.health.get().storage === 'disk')
    await expectStored(chat, session, storage)
    const again = lookInto(storage)
    await again.world.until(() => again.session.get().status === 'ready')
    expect(shown(again.session.get().messages)).toEqual(['one', 're: one'])
  })

  test('tells of a failing storage once', async () => {
    const storage = watchedStorage()
    storage.fail((_, operation) => operation === 'commit')
    const { session, chat, world } = directChat({ storage })
    const told: string[] = [chat.health.get().storage]
    const errors = new Set<unknown>()
    chat.health.subscribe(() => {
      told.push(chat.health.get().storage)
      errors.add(chat.health.get().lastError)
    })
    for (const text of ['one', 'two']) await (await session.send(text)).answer
    await world.pass(60_000)
    storage.fail()
    await world.pass(60_000)
    expect(told.filter((health, at) => health !== told[at - 1])).toEqual(['disk', 'failed', 'disk'])
    expect([...errors].filter((error) => error !== undefined).length).toBe(1)
  })

  test('twice in a row, without waiting, keeps the order, and each follows the one before', async () => {
    const { session, storage, chat } = directChat()
    const [one, two] = await Promise.all([session.send('one'), session.send('two')])
    await two?.answer
    expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
    const parents = session.get().messages.map(({ parentId }) => parentId)
    expect(parents).toEqual([
      null,
      ...session
        .get()
        .messages.slice(0, 3)
        .map(({ id }) => id),
    ])
    expect(session.get().messages[0]?.id).toBe(one?.id)
    await idle()
    await expectStored(chat, session, storage)
  })

  test('during a run waits for its turn, and its answer knows what came before', async () => {
    const hold = createHold()
    const { session, model, world } = directChat({ steps: [['first', hold, ' answer'], 'second'] })
    const one = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('first'))
    const two = await session.send('two')
    const three = await session.send('three')
    await idle()
    expect(shown(session.get().messages)).toEqual(['one', 'first', 'two', 'three'])
    expect(statuses(session.get().messages).slice(2)).toEqual(['user pending', 'user pending'])
    expect(model.calls.length).toBe(1)
    hold.release()
    await one.answer
    await two.answer
    await expect(three.answer).resolves.toMatchObject({ status: 'failed' })
    expect(shown(session.get().messages).slice(0, 4)).toEqual(['one', 'first answer', 'two', 'second'])
    expect(shown(session.get().messages)[4]).toBe('three')
    expect(model.calls[2]?.context.messages.flatMap((message) => shown([message]))).toEqual([
      'one',
      'first answer',
      'two',
      'second',
      'three',
    ])
  })

  test('during a run may end it, or be refused, if it asks for that', async () => {
    const { session, world, chat, storage } = directChat({
      steps: [['half', { stall: true }], 'second', 'third'],
    })
    const one = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('half'))
    const refused = await session.send('not now', { whenBusy: 'refuse' })
    expect(await ending(refused.answer)).toBe('conflict')
    expect(session.message(refused.id).get()).toMatchObject({ status: 'failed', error: { code: 'conflict' } })
    await session.discard(refused.id)
    const two = await session.send('two', { whenBusy: 'interrupt' })
    expect(await one.answer).toMatchObject({ status: 'interrupted' })
    expect(shown([await two.answer])).toEqual(['second'])
    const three = await session.send('three', { whenBusy: 'refuse' })
    expect(shown([await three.answer])).toEqual(['third'])
    expect(shown(session.get().messages)).toEqual(['one', 'half', 'two', 'second', 'three', 'third'])
    await idle()
    await expectStored(chat, session, storage)
  })

  const bad: [name: string, input: Parameters<typeof send>[0], options?: object][] = [
    ['nothing', ''],
    ['blanks', '  \n'],
    ['no blocks', []],
    ['empty blocks', [{ type: 'text', text: ' ' }]],
    ['what cannot be said in JSON', 'x', { metadata: { at: 1n } }],
    ['what refers to itself', 'x', { metadata: circle() }],
  ]
  function circle() {
    const value: Record<string, unknown> = {}
    value.self = value
    return value
  }
  const send = (input: string | [] | { type: 'text'; text: string }[], options?: object) =>
    directChat().session.send(input, options)
  test.each(bad)('refuses %s', async (_, input, options) => {
    expect(await ending(send(input, options))).toBe('invalid-request')
  })

  test('copies what it is given', async () => {
    const { session } = directChat({ steps: [[{ stall: true }]] })
    const metadata = { tags: ['a'] }
    const blocks = [{ type: 'text' as const, text: 'one' }]
    await session.send(blocks, { metadata })
    metadata.tags.push('b')
    for (const block of blocks) block.text = 'two'
    expect(session.get().messages[0]).toMatchObject({
      metadata: { tags: ['a'] },
      content: [{ type: 'text', text: 'one' }],
    })
  })

  test('has its answer also where that came before the storage had taken the question', async () => {
    const { session, storage, world } = directChat({ steps: ['quick', 'quicker'] })
    await (await session.send('one')).answer
    await idle()
    const release = storage.hold()
    const sending = session.send('two')
    await idle()
    release()
    const { answer } = await sending
    let done = false
    void answer.then(() => {
      done = true
    })
    await world.until(() => done)
  })
})

test('a session of a name that no server could know is refused', () => {
  const { chat } = directChat()
  for (const id of ['', 'a b', '../x', 'ä', 'x'.repeat(65)])
    expect(() => chat.session(id)).toThrow(/letters, digits/)
  expect(chat.session().id).toMatch(/^[\w-]+$/)
})
