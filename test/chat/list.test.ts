import { expect, test } from 'vitest'
import { newSession } from '../../src/chat/intents.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { openClient } from '../scenarios/client.ts'
import { ended, pass, startServer, until } from '../scenarios/server.ts'
import { directChat, ending } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { noStrayRejections } from './world.ts'

noStrayRejections()

const named = (n: number) => `s${String(n).padStart(3, '0')}`

test('older sessions that are stored are listed when they are asked for, 50 at a time', async () => {
  const storage = watchedStorage(memoryStorage())
  const rows = Array.from({ length: 120 }, (_, n) => ({
    ...{ session: newSession(named(n), n + 1), eventId: null, rev: 0, tidemark: null, nextLocal: 0 },
    ...{ complete: true, epoch: 0 },
  }))
  await storage.commit(rows.map((row) => ({ type: 'session', row })))
  const { chat, world } = directChat({ storage })
  await world.until(() => chat.sessions.get().length === 50)
  expect(chat.sessions.get()[0]?.id).toBe(named(119))
  const asked = await Promise.all([chat.loadOlder(), chat.loadOlder()])
  expect(asked).toContain(true)
  while (await chat.loadOlder());
  expect(chat.sessions.get().map(({ id }) => id)).toEqual(rows.map(({ session }) => session.id).toReversed())
  await chat.close()
  expect(await ending(chat.loadOlder())).toBe('aborted')
})

test('older sessions that only the server has are listed, too, also after the page was seen again', async () => {
  const server = startServer()
  for (let n = 0; n < 120; n++) {
    await server.ask('POST', '/sessions', { id: named(n) })
    await server.world.pass(1)
  }
  const { chat, line, page } = openClient(server, { session: named(119) })
  await until(server, () => chat.sessions.get().length === 50)
  expect(await chat.loadOlder()).toBe(true)
  expect(chat.sessions.get().length).toBe(100)
  page.show('visible')
  await pass(server, 500)
  expect(await chat.loadOlder()).toBe(true)
  expect(await chat.loadOlder()).toBe(false)
  expect(chat.sessions.get().map(({ id }) => id)).toEqual(
    Array.from({ length: 120 }, (_, n) => named(119 - n)),
  )
  page.show('visible')
  await pass(server, 500)
  line.online = false
  expect(await ended(server, ending(chat.loadOlder()))).toBe('network')
})
