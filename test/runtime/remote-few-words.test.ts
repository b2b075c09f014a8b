import { describe, expect, test } from 'vitest'
import { shown, statuses } from '../chat/direct-chat.ts'
import { expectStored, watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { remoteChat, requestsTo } from './remote-chat.ts'
import { say } from './scripted-routes.ts'
import { cut, json, openRoom, type Seen, scriptedServer, tell } from './scripted-server.ts'

noStrayRejections()

describe('a server of few words', () => {
  const kinds: [name: string, options: Parameters<typeof remoteChat>[0]][] = [
    ['without a feed', { feed: false }],
    ['without session routes', { sessions: false }],
    ['without either', { feed: false, sessions: false }],
    ['without numbers', { numbered: false }],
    ['without numbers and offsets', { numbered: false, offsets: false }],
    ['without anything', { feed: false, sessions: false, numbered: false }],
    ['that gives ids of its own', { renames: true }],
    ['that gives ids of its own, without a feed', { renames: true, feed: false }],
  ]
  test.each(kinds)(
    '%s answers, is read again on another device, and asked no more than needed',
    async (_, options) => {
      const server = scriptedServer(options)
      const open = remoteChat({ server })
      const { session, chat, storage, world } = open
      for (const text of ['one', 'two'])
        expect(shown([await world.ended((await session.send(text)).answer)])).toEqual([`re: ${text}`])
      expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
      expect(statuses(session.get().messages).every((status) => status.endsWith('completed'))).toBe(true)
      await world.pass(1_000)
      await expectStored(chat, session, storage)
      expect(session.get().tidemark).toBe(session.get().messages[3]?.id)
      const asked = server.requests.length
      await world.pass(40_000)
      expect(server.requests.length - asked).toBeLessThan(4)
      const other = remoteChat({ server, storage: watchedStorage(), world: createWorld({ name: 'other' }) })
      await other.world.until(() => other.session.get().messages.length === 4)
      expect(shown(other.session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
      await other.world.pass(1_000)
      await expectStored(other.chat, other.session, other.storage)
    },
  )

  test('without numbers and offsets is listened to once: no letter is doubled on the way', async () => {
    const whole = 'said letter by letter, so that whoever listens twice hears something twice'
    const { session, world } = remoteChat({ numbered: false, offsets: false, answer: () => [...whole] })
    await session.send('one')
    const seen = new Set<string>()
    await world.until(() => {
      const last = session.get().messages.at(-1)
      if (last?.role === 'assistant') seen.add(shown([last])[0] ?? '')
      return last?.role === 'assistant' && last.status === 'completed'
    })
    expect([...seen].filter((text) => !whole.startsWith(text))).toEqual([])
    expect(seen.size).toBeGreaterThan(5)
  })

  test('that renames a message keeps its key, and what was asked of it', async () => {
    const { session } = remoteChat({ renames: true })
    const sent = await session.send('one')
    await sent.answer
    const [question] = session.get().messages
    expect(question).toMatchObject({ id: `srv-${sent.id}`, clientId: sent.id })
  })

  test('without a feed is looked at again as long as an answer is outstanding, and then no more', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { session, server, world } = remoteChat({ feed: false, answer: () => ['half ', held, 'whole'] })
    const sent = await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'half ')
    cut(server)
    await world.pass(20_000)
    const looks = requestsTo(server, 'GET /sessions/s/messages').length
    expect(looks).toBeGreaterThan(3)
    expect(looks).toBeLessThan(30)
    expect(session.get().messages.at(-1)?.status).toBe('streaming')
    release()
    await world.until(() => session.get().messages.at(-1)?.status === 'completed')
    expect(shown([await sent.answer])).toEqual(['half whole'])
    const asked = server.requests.length
    await world.pass(300_000)
    expect(server.requests.length).toBe(asked)
  })

  test('whose pages never end is not read for ever', async () => {
    const server = scriptedServer({ feed: false, numbered: false })
    const room = openRoom(server, 's')
    say(server, room, 'one', null)
    server.spoil = async (response, { path }: Seen) =>
      path.endsWith('/messages') ? json({ ...(await response.json()), hasMore: true }) : response
    const { world, session } = remoteChat({ server })
    await world.pass(3_000)
    expect(shown(session.get().messages)).toEqual(['one'])
    expect(server.requests.length).toBeLessThan(30)
  })

  test('whose feed is out of order for a while is followed again', async () => {
    const { session, server, world } = remoteChat()
    await (await session.send('one')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length === 1)
    server.instead = ({ path }) => (path.endsWith('/events') ? new Response('', { status: 404 }) : undefined)
    cut(server)
    await world.pass(30_000)
    server.instead = undefined
    await world.pass(60_000)
    const room = openRoom(server, 's')
    tell(server, room, {
      type: 'session.updated',
      session: { ...room.session, title: 'Ebb', rev: ++room.rev },
    })
    await world.until(() => session.get().session?.title === 'Ebb')
  })
})
