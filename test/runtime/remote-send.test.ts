import { describe, expect, test } from 'vitest'
import { ending, shown, statuses } from '../chat/direct-chat.ts'
import { expectStored } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { remoteChat, requestsTo, SEND } from './remote-chat.ts'

noStrayRejections()

const hold = () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  return { held, release: () => release() }
}

describe('what is sent', () => {
  test('offline waits, and arrives once, in its order', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    server.online = false
    const one = await session.send('one')
    const two = await session.send('two')
    await world.pass(45_000)
    expect(statuses(session.get().messages)).toEqual(['user pending', 'user pending'])
    expect(chat.health.get()).toMatchObject({ outbox: 3, connection: 'reconnecting' })
    await expectStored(chat, session, storage)
    server.online = true
    await world.until(() => session.get().messages.length === 4)
    await Promise.all([one.answer, two.answer])
    expect(requestsTo(server, SEND).length).toBe(2)
    expect([...(server.rooms.get('s')?.messages.keys() ?? [])].filter((id) => !id.startsWith('a-'))).toEqual([
      one.id,
      two.id,
    ])
  })

  test('while the question before it is being answered stands behind that answer', async () => {
    const { held, release } = hold()
    const { session, server, chat, storage, world } = remoteChat({
      answer: (text) => (text === 'one' ? ['re: ', held, 'one'] : [`re: ${text}`]),
    })
    let arrives = () => {}
    const slow = new Promise<void>((resolve) => {
      arrives = resolve
    })
    server.instead = async ({ method, path, body }) => {
      if (`${method} ${path}` === SEND && body.includes('two')) await slow
      return undefined
    }
    const one = await session.send('one')
    const two = await session.send('two')
    await world.until(() => shown(session.get().messages).includes('re: '))
    expect(shown(session.get().messages)).toEqual(['one', 're: ', 'two'])
    release()
    await one.answer
    arrives()
    await world.ended(two.answer)
    await world.pass(300)
    const parents = new Map(
      [...(server.rooms.get('s')?.messages.values() ?? [])].map(({ id, parentId }) => [id, parentId]),
    )
    expect(parents.get(two.id)).toMatch(/^a-/)
    expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
    await expectStored(chat, session, storage)
  })

  test('offline, by a page that was closed meanwhile, arrives once', async () => {
    const first = remoteChat()
    const { server } = first
    server.online = false
    const { id } = await first.session.send('one')
    await first.session.send('two')
    await first.world.pass(3_000)
    await first.chat.close()
    server.online = true
    const again = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.until(() => again.session.get().messages.length === 4)
    await again.world.until(() => again.session.get().status === 'ready')
    expect(shown(again.session.get().messages).toSorted()).toEqual(['one', 're: one', 're: two', 'two'])
    expect(requestsTo(server, SEND).map(({ headers }) => headers.get('idempotency-key'))[0]).toBe(id)
    expect(requestsTo(server, SEND).length).toBe(2)
    await again.world.pass(300)
    await expectStored(again.chat, again.session, again.storage)
  })

  test('is sent again with the same key and the very same body where the answer was lost, also after a reload', async () => {
    const first = remoteChat()
    const { server } = first
    let lost = 0
    server.spoil = (response, { method, path }) => {
      if (`${method} ${path}` !== SEND || ++lost > 3) return response
      throw new TypeError('Failed to fetch')
    }
    const sent = await first.session.send([{ type: 'text', text: 'ü 😀' }], {
      metadata: { b: 1, a: [null, 2] },
    })
    await first.world.until(() => lost === 1)
    await first.chat.close()
    const again = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.until(() => again.session.get().messages.at(-1)?.status === 'completed')
    await again.world.until(() => again.chat.health.get().outbox === 0)
    const posts = requestsTo(server, SEND)
    expect(posts.length).toBeGreaterThan(1)
    expect(new Set(posts.map(({ body }) => body)).size).toBe(1)
    expect(new Set(posts.map(({ headers }) => headers.get('idempotency-key')))).toEqual(new Set([sent.id]))
    expect(shown(again.session.get().messages)).toEqual(['ü 😀', 're: ü 😀'])
  })
})

test('what is sent under the id of an answer is refused: nobody would ever answer it', async () => {
  const { session } = remoteChat()
  const answer = await (await session.send('one')).answer
  expect(await ending(session.send('two', { id: answer.id }))).toBe('conflict')
  expect(shown(session.get().messages)).toEqual(['one', 're: one'])
})
