import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import { createChat } from '../../src/chat/create.ts'
import { direct } from '../../src/runtime/direct.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { directChat, ending, outboxOf, shown, statuses } from './direct-chat.ts'
import { expectStored, watchedStorage } from './storages.ts'
import { idle, noStrayRejections } from './world.ts'

noStrayRejections()
afterEach(() => vi.unstubAllGlobals())

const goOffline = () => vi.stubGlobal('navigator', { onLine: false })
const goOnline = () => vi.stubGlobal('navigator', { onLine: true })

/** A model that is reached over a line: while there is none, its calls fail as a browser's do. */
function lined(storage = watchedStorage(), answer = 'answered') {
  return directChat({ storage, steps: () => (navigator.onLine ? answer : [{ error: 'network' }]) })
}

describe('a direct chat without a network', () => {
  test('keeps what is written, and asks once when the line is back', async () => {
    goOffline()
    const { session, chat, storage, world, model } = lined()
    const one = await session.send('one')
    const two = await session.send('two')
    await world.pass(20_000)
    expect(statuses(session.get().messages).filter((text) => text.startsWith('user'))).toEqual([
      'user pending',
      'user pending',
    ])
    expect(chat.health.get()).toMatchObject({ outbox: 2, connection: 'offline' })
    expect((await outboxOf(storage)).length).toBe(2)
    goOnline()
    await world.pass(31_000)
    expect(shown([await one.answer, await two.answer])).toEqual(['answered', 'answered'])
    expect(shown(session.get().messages)).toEqual(['one', 'answered', 'two', 'answered'])
    expect(model.calls.filter(({ context }) => context.messages.length === 1).length).toBeGreaterThan(0)
    expect(statuses(session.get().messages)).toEqual([
      'user completed',
      'assistant completed',
      'user completed',
      'assistant completed',
    ])
    expect(session.get().status).toBe('ready')
    await idle()
    await expectStored(chat, session, storage)
  })

  test('also when the page was closed meanwhile', async () => {
    goOffline()
    const first = lined()
    await first.session.send('one')
    await first.session.send('two')
    await first.world.pass(5_000)
    await first.chat.close()
    const again = lined(first.storage.reopen())
    await again.world.until(() => again.session.get().status !== 'loading')
    expect(shown(again.session.get().messages).filter((text) => text !== '')).toEqual(['one', 'two'])
    goOnline()
    await again.world.until(() => shown(again.session.get().messages).length === 4)
    await again.world.until(() => again.session.get().status === 'ready')
    expect(shown(again.session.get().messages)).toEqual(['one', 'answered', 'two', 'answered'])
    expect(statuses(again.session.get().messages)).not.toContain('assistant interrupted')
    await idle()
    await expectStored(again.chat, again.session, again.storage)
  })

  test('lets a question be given up, and what follows it follows what came before', async () => {
    goOffline()
    const { session, chat, storage, world } = lined()
    const one = await session.send('one')
    const two = await session.send('two')
    const three = await session.send('three')
    await world.pass(3_000)
    await session.discard(two.id)
    expect(await ending(two.answer)).toBe('aborted')
    await session.discard(one.id)
    expect(shown(session.get().messages).filter((text) => text !== '')).toEqual(['three'])
    expect(session.message(three.id).get()?.parentId).toBeNull()
    await idle()
    await expectStored(chat, session, storage)
    goOnline()
    await world.pass(31_000)
    expect(shown([await three.answer])).toEqual(['answered'])
    expect(shown(session.get().messages)).toEqual(['three', 'answered'])
    await idle()
    await expectStored(chat, session, storage)
  })

  test('forgets what was stopped there', async () => {
    goOffline()
    const { session, world, model } = lined()
    const one = await session.send('one')
    await world.pass(3_000)
    await session.stop()
    await world.pass(3_000)
    const before = model.calls.length
    goOnline()
    await world.pass(60_000)
    expect(model.calls.length).toBe(before)
    expect(await ending(one.answer)).toMatchObject({ status: 'interrupted' })
    expect(session.get().status).toBe('ready')
  })
})

test('a model that throws before it says anything fails the answer, not the queue', async () => {
  const storage = watchedStorage()
  const calls: number[] = []
  const model = {
    ...scriptedModel([]),
    stream(): AsyncIterable<ModelEvent> {
      calls.push(1)
      if (calls.length === 1) throw new Error('broken')
      return scriptedModel(['fine']).stream({ messages: [] })
    },
  }
  const chat = createChat({ storage, runtime: direct({ model }) })
  const session = chat.session('s')
  expect(await (await session.send('one')).answer).toMatchObject({ status: 'failed' })
  expect(shown([await (await session.send('two')).answer])).toEqual(['fine'])
  await chat.close()
})
