import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { remoteChat, requestsTo, SEND } from '../runtime/remote-chat.ts'
import { scriptedServer } from '../runtime/scripted-server.ts'
import { likeBrowser } from './browser-tabs.ts'
import { shown, statuses } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

test('a refused message is tried again and given up from the tab that does not lead', async () => {
  const storage = watchedStorage(memoryStorage(), likeBrowser())
  const server = scriptedServer()
  let refuses = true
  server.instead = ({ method, path }) =>
    refuses && `${method} ${path}` === SEND
      ? new Response('{"error":{"code":"invalid-request","message":"no"}}', { status: 400 })
      : undefined
  const first = remoteChat({ server, storage, world: createWorld({ name: 'one' }) })
  await idle()
  const second = remoteChat({ server, storage: storage.reopen(), world: createWorld({ name: 'two' }) })
  const one = await second.session.send('one')
  const two = await second.session.send('two')
  await expect.poll(() => statuses(second.session.get().messages)).toEqual(['user failed', 'user pending'])
  await second.session.discard(one.id)
  await expect.poll(() => statuses(first.session.get().messages)).toEqual(['user failed'])
  await expect.poll(() => second.session.message(two.id).get()?.status).toBe('failed')
  refuses = false
  const again = await second.session.retry(two.id)
  await expect
    .poll(async () => {
      await first.world.pass(200)
      await second.world.pass(200)
      return shown(second.session.get().messages)
    })
    .toEqual(['two', 're: two'])
  expect(shown([await again.answer])).toEqual(['re: two'])
  expect(statuses(first.session.get().messages)).toEqual(['user completed', 'assistant completed'])
  expect([...(server.rooms.get('s')?.messages.values() ?? [])].length).toBe(2)
  expect(requestsTo(server, 'GET /sessions/s/events').length).toBe(1)
})
