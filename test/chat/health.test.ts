import { describe, expect, onTestFinished, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Platform } from '../../src/chat/platform.ts'
import type { ChatStorage } from '../../src/chat/ports.ts'
import { direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { remoteChat } from '../runtime/remote-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections, type World } from './world.ts'

noStrayRejections()

/** A page whose browser says what it is told to, and whether it keeps what is stored. */
function browser(persist: () => Promise<boolean> = async () => true) {
  const target = new EventTarget()
  const navigator = { onLine: true, storage: { persist } }
  const platform: Platform = {
    navigator,
    setTimeout: (callback, ms) => setTimeout(callback, ms),
    addEventListener: (...args) => target.addEventListener(...args),
    removeEventListener: (...args) => target.removeEventListener(...args),
  }
  const go = (line: 'online' | 'offline') => {
    navigator.onLine = line === 'online'
    target.dispatchEvent(new Event(line))
  }
  return { platform, go }
}

function directChat(platform: Platform, storage: ChatStorage, world: World = createWorld()) {
  const runtime = direct({ model: scriptedModel(() => 'yes') })
  const chat = createChat({ storage, platform, env: world.env, runtime })
  onTestFinished(() => chat.close())
  return { chat, session: chat.session('s'), world }
}

describe('the health of a chat', () => {
  test('says whether the browser keeps what is stored, asked once, at the first send', async () => {
    for (const kept of [true, false]) {
      let asked = 0
      const { platform } = browser(async () => {
        asked++
        return kept
      })
      const { chat, session } = directChat(platform, watchedStorage())
      await idle()
      expect([asked, chat.health.get().persisted]).toEqual([0, undefined])
      await (await session.send('one')).answer
      await (await session.send('two')).answer
      expect([asked, chat.health.get().persisted]).toEqual([1, kept])
    }
  })

  test('counts a browser that throws at that question as one that says no, and asks none for a memory', async () => {
    const refusing = browser(() => Promise.reject(new TypeError('Not here')))
    const { chat, session } = directChat(refusing.platform, watchedStorage())
    await (await session.send('one')).answer
    expect(chat.health.get()).toMatchObject({ storage: 'disk', persisted: false })
    const passing = directChat(browser().platform, memoryStorage())
    await (await passing.session.send('one')).answer
    expect(passing.chat.health.get().storage).toBe('memory')
    expect(passing.chat.health.get()).not.toHaveProperty('persisted')
  })

  test('says offline as soon as the browser does, with a server', async () => {
    const { platform, go } = browser()
    const { chat, session, server, world } = remoteChat({ platform })
    await (await session.send('one')).answer
    await world.until(() => chat.health.get().connection === 'online')
    server.online = false
    await world.pass(1_000)
    go('offline')
    expect(chat.health.get().connection).toBe('offline')
    await session.send('two')
    await world.pass(60_000)
    expect([chat.health.get().connection, session.get().connection]).toEqual(['offline', 'offline'])
    server.online = true
    go('online')
    await world.until(() => chat.health.get().connection === 'online' && chat.health.get().outbox === 0)
  })

  test('says offline without a server as well, and idle again when there is a line to ask on', async () => {
    const { platform, go } = browser()
    const { chat, session } = directChat(platform, watchedStorage())
    go('offline')
    expect(chat.health.get().connection).toBe('idle')
    go('online')
    await (await session.send('one')).answer
    await idle()
    expect(chat.health.get().connection).toBe('online')
    go('offline')
    expect(chat.health.get().connection).toBe('offline')
    go('online')
    expect(chat.health.get().connection).toBe('idle')
  })

  test('counts each stored row that could not be read once, and names it', async () => {
    const inner = watchedStorage()
    const storage: ChatStorage = {
      ...inner,
      start: async (options) => ({ ...(await inner.start(options)), unreadable: ['["outbox","o"]'] }),
      window: async (id, query) => ({
        ...(await inner.window(id, query)),
        unreadable: ['["outbox","o"]', '["messages","m"]'],
      }),
    }
    const { chat, session } = directChat(browser().platform, storage)
    await (await session.send('one')).answer
    await idle()
    expect(chat.health.get()).toMatchObject({
      quarantined: 2,
      storage: 'disk',
      lastError: { code: 'storage' },
    })
    expect(chat.health.get().lastError?.message).toMatch(/"(messages|outbox)"/)
  })
})
