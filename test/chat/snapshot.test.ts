import { describe, expect, test } from 'vitest'
import { createHold } from '../../src/testing/scripted-model.ts'
import { deepFreeze } from '../support/messages.ts'
import { directChat, shown, statuses } from './direct-chat.ts'
import { expectStored } from './storages.ts'
import { idle, noStrayRejections } from './world.ts'

noStrayRejections()

describe('a snapshot', () => {
  test('is the same object until something changes', async () => {
    const { session, chat, world } = directChat()
    const loading = session.get()
    expect(session.get()).toBe(loading)
    expect(loading.status).toBe('loading')
    await world.until(() => session.get().status === 'ready')
    const empty = session.get()
    expect(empty).not.toBe(loading)
    expect(session.get()).toBe(empty)
    await (await session.send('one')).answer
    await idle()
    const answered = session.get()
    expect(session.get()).toBe(answered)
    expect(chat.session('s').get()).toBe(answered)
    expect(shown(answered.messages)).toEqual(['one', 're: one'])
    expect(statuses(answered.messages)).toEqual(['user completed', 'assistant completed'])
    expect(answered.tidemark).toBe(answered.messages[1]?.id)
  })

  test('is never changed afterwards, nor is what it was made of', async () => {
    const { session, chat } = directChat({ chunkSize: 1 })
    const frozen: unknown[] = []
    session.subscribe(() => frozen.push(deepFreeze(session.get())))
    chat.sessions.subscribe(() => frozen.push(deepFreeze(chat.sessions.get())))
    chat.health.subscribe(() => frozen.push(deepFreeze(chat.health.get())))
    deepFreeze(session.get())
    for (const text of ['one', 'two']) {
      const sent = await session.send(text)
      deepFreeze(session.get())
      deepFreeze(await sent.answer)
    }
    await session.rename('named')
    await expect.poll(() => chat.sessions.get()[0]?.title).toBe('named')
    expect(frozen.length).toBeGreaterThan(0)
    expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
  })

  test('has other messages as the same objects while one grows', async () => {
    const hold = createHold()
    const { session, world } = directChat({ steps: ['first', ['sec', hold, 'ond']] })
    await (await session.send('one')).answer
    const sent = await session.send('two')
    await world.until(() => shown(session.get().messages).at(-1) === 'sec')
    const before = session.get().messages
    hold.release()
    await sent.answer
    const after = session.get().messages
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3))
    for (const at of [0, 1, 2]) expect(after[at]).toBe(before[at])
    expect(after[3]).not.toBe(before[3])
  })
})

describe('a message of its own', () => {
  test('is one store for one id, and tells only those who watch it', async () => {
    const { session } = directChat({ steps: ['first', 'second'] })
    const first = await (await session.send('one')).answer
    let told = 0
    const store = session.message(first.id)
    expect(session.message(first.id)).toBe(store)
    await expect.poll(() => session.get().status).toBe('ready')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const end = store.subscribe(() => told++)
    const second = await (await session.send('two')).answer
    const other = session.message(second.id)
    await expect.poll(() => other.get()?.status).toBe('completed')
    expect(told).toBe(0)
    end()
    expect(session.message('nobody').get()).toBeUndefined()
  })

  test('hands on exactly what was appended, in order, with its place', async () => {
    const hold = createHold()
    const { session, world } = directChat({
      steps: [[{ start: true }, hold, { thinking: 'hm 😀' }, 'héllo ', 'wörld']],
      chunkSize: 1,
    })
    const sent = await session.send('go')
    await world.until(() => session.get().messages.at(-1)?.status === 'streaming')
    const texts: string[] = []
    const last = session.message(session.get().messages.at(-1)?.id ?? '')
    const end = last.onAppend(({ index, offset, text }) => {
      expect(offset).toBe(texts[index]?.length ?? 0)
      texts[index] = (texts[index] ?? '') + text
    })
    hold.release()
    await sent.answer
    expect(texts).toEqual(['hm 😀', 'héllo wörld'])
    end()
  })

  test('a watcher that throws stops neither the others nor the chat', async () => {
    const { session, chat, storage } = directChat({ chunkSize: 2 })
    const thrown: unknown[] = []
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => thrown.push(error))
    let told = 0
    const bad = () => {
      throw new Error('a broken watcher')
    }
    const watching = [session, chat.health, chat.sessions].map((store) => store.subscribe(bad))
    session.subscribe(() => told++)
    session.subscribe(() => {
      for (const { id } of session.get().messages) session.message(id).onAppend(bad)
    })
    for (const text of ['one', 'two']) await (await session.send(text)).answer
    await expect.poll(() => told).toBeGreaterThan(0)
    await expect.poll(() => thrown.length).toBeGreaterThan(3)
    // What comes after this test must not be caught for it.
    for (const end of watching) end()
    await idle()
    process.removeAllListeners('uncaughtException')
    for (const listener of others) process.on('uncaughtException', listener)
    expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
    expect(chat.health.get()).toMatchObject({ storage: 'disk', quarantined: 0 })
    await idle()
    await expectStored(chat, session, storage)
  })
})
