import { expect, onTestFinished, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Channel, Platform } from '../../src/chat/platform.ts'
import { remote } from '../../src/runtime/remote.ts'
import { fetchOf } from '../runtime/scripted-routes.ts'
import { scriptedServer } from '../runtime/scripted-server.ts'
import { watchedStorage } from './storages.ts'
import { createWorld } from './world.ts'

/** A page that is looked at, has a network, and writes down what a chat asks of it. */
function page() {
  const target = new EventTarget()
  const asked: string[] = []
  const frames: (() => void)[] = []
  const listening = new Set<string>()
  const listen: EventTarget['addEventListener'] = (type, listener, options) => {
    listening.add(type)
    target.addEventListener(type, listener, options)
  }
  const forget: EventTarget['removeEventListener'] = (type, listener, options) => {
    listening.delete(type)
    target.removeEventListener(type, listener, options)
  }
  const platform: Platform = {
    addEventListener: listen,
    removeEventListener: forget,
    document: { visibilityState: 'visible', addEventListener: listen, removeEventListener: forget },
    navigator: {
      onLine: false,
      locks: { request: async (name, _, held) => held().then(() => asked.push(name)) },
      storage: { persist: async () => true },
    },
    BroadcastChannel: function open(name: string): Channel {
      asked.push(name)
      return { onmessage: null, postMessage: () => {}, close: () => {} }
    } as unknown as NonNullable<Platform['BroadcastChannel']>,
    requestAnimationFrame: (callback) => frames.push(callback),
    setTimeout: () => {},
  }
  return { platform, asked, frames, listening, target }
}

test('a chat lives in the page that it is given, and leaves it as it was', async () => {
  const { platform, asked, frames, listening, target } = page()
  const server = scriptedServer()
  server.online = false
  const world = createWorld()
  const chat = createChat({
    storage: watchedStorage(undefined, 'db'),
    runtime: remote({ url: 'http://server', fetch: fetchOf(server) }),
    env: world.env,
    platform,
  })
  onTestFinished(() => chat.close())
  const session = chat.session('s')
  let told = 0
  session.subscribe(() => told++)
  await session.send('hello')
  await world.until(() => chat.health.get().connection === 'offline')
  expect(chat.health.get().persisted).toBe(true)
  expect(told).toBe(0)
  for (const frame of frames.splice(0)) frame()
  expect(told).toBe(1)
  server.online = true
  target.dispatchEvent(new Event('online'))
  await world.until(() => chat.health.get().outbox === 0)
  expect([...listening].sort()).toEqual(
    ['freeze', 'offline', 'online', 'pagehide', 'pageshow', 'resume', 'visibilitychange'].sort(),
  )
  await chat.close()
  await world.pass(0)
  expect([...listening]).toEqual([])
  // The channel, then the locks as they are given up: a connection, and the session.
  expect(asked).toEqual(['tidemark:default/db', 'tidemark:default/db#0', 'tidemark:default/db:s'])
})
