import { describe, expect, test } from 'vitest'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat, requestsTo, SEND } from '../runtime/remote-chat.ts'
import { openRoom, refusal, scriptedServer } from '../runtime/scripted-server.ts'

noStrayRejections()

const identity = (account: string) => ({ account, headers: { authorization: `Bearer ${account}` } })
const whoAsked = (server: ReturnType<typeof scriptedServer>) =>
  new Set(server.requests.map(({ headers }) => headers.get('authorization')))

describe('26: an account that is switched with rows queued', () => {
  test('carries none of them under the other account, and sends them once its own is back', async () => {
    let signedIn = 'ada'
    const open = remoteChat({ account: 'ada', headers: () => identity(signedIn) })
    const { session, server, world, chat } = open
    await (await session.send('one')).answer
    await world.pass(1_000)
    signedIn = 'bob'
    const before = server.requests.length
    const { id } = await session.send('two')
    await session.rename('Tides')
    await world.pass(600_000)
    expect(server.requests.slice(before)).toEqual([])
    expect(session.message(id).get()?.status).toBe('pending')
    expect(chat.health.get()).toMatchObject({ outbox: 2, lastError: { code: 'auth' } })
    expect(session.get().error).toMatchObject({ code: 'auth' })
    signedIn = 'ada'
    await world.pass(120_000)
    await expectInStep(open)
    expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
    expect(session.get().error).toBeUndefined()
    expect(whoAsked(server)).toEqual(new Set(['Bearer ada']))
  })

  test('is looked at for each request, with the headers of that request and no others', async () => {
    // Switched between any two requests: whoever is signed in at the nth, only the account's own go out.
    for (let n = 0; n < 12; n++) {
      let asked = 0
      const headers = async () => identity(asked++ === n ? 'bob' : 'ada')
      const open = remoteChat({ account: 'ada', headers, world: createWorld({ name: `w${n}` }) })
      await open.session.send('one')
      await open.world.pass(60_000)
      await expectInStep(open)
      expect(whoAsked(open.server)).toEqual(new Set(['Bearer ada']))
      expect(requestsTo(open.server, SEND).length).toBe(1)
      await open.chat.close()
    }
  })

  test('also in the middle of a request that has to be asked again after a 401', async () => {
    let signedIn = 'ada'
    const open = remoteChat({ account: 'ada', headers: () => identity(signedIn) })
    const { session, server, world } = open
    server.instead = ({ headers, method }) => {
      if (method !== 'POST' || signedIn === 'bob') return undefined
      expect(headers.get('authorization')).toBe('Bearer ada')
      signedIn = 'bob'
      return refusal(401, 'auth')
    }
    const { id } = await session.send('one')
    await world.pass(60_000)
    expect(session.message(id).get()?.status).toBe('pending')
    expect(whoAsked(server)).toEqual(new Set(['Bearer ada']))
    server.instead = undefined
    signedIn = 'ada'
    await world.pass(120_000)
    await expectInStep(open)
    expect([...openRoom(server, 's').messages.keys()]).toContain(id)
  })

  test('leaves the rows of the first account alone in a chat of the second over the same database', async () => {
    const server = scriptedServer()
    server.online = false
    const ada = remoteChat({ server, account: 'ada', headers: () => identity('ada') })
    const { id } = await ada.session.send('hers')
    await ada.world.pass(1_000)
    await ada.chat.close()
    server.online = true
    const storage = ada.storage.reopen()
    const bob = remoteChat({ server, storage, account: 'bob', headers: () => identity('bob') })
    bob.chat.session('t')
    await bob.world.pass(60_000)
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
    await bob.chat.close()
    const back = remoteChat({
      server,
      storage: storage.reopen(),
      account: 'ada',
      headers: () => identity('ada'),
      world: createWorld({ name: 'back' }),
    })
    await back.world.pass(60_000)
    await expectInStep(back)
    expect([...openRoom(server, 's').messages.keys()][0]).toBe(id)
    const sent = server.requests.filter(({ method }) => method === 'POST')
    expect(new Set(sent.map(({ headers }) => headers.get('authorization')))).toEqual(new Set(['Bearer ada']))
  })
})
