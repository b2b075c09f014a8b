import { describe, expect, test } from 'vitest'
import { ending, shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat, requestsTo, SEND } from '../runtime/remote-chat.ts'
import { refusal, scriptedServer } from '../runtime/scripted-server.ts'
import { ANSWERS } from './hostile.ts'

noStrayRejections()

describe('25: a server that answers to reading with', () => {
  test.each(ANSWERS)(
    '%s is asked with patience, and the chat is in step once it is itself again',
    async (_, answer) => {
      const server = scriptedServer()
      const first = remoteChat({ server })
      for (const text of ['one', 'two']) await (await first.session.send(text)).answer
      await first.chat.close()
      const before = server.requests.length
      server.instead = ({ method }) => (method === 'GET' ? answer() : undefined)
      const again = remoteChat({ server, world: createWorld({ name: 'new' }) })
      await again.world.pass(120_000)
      expect(server.requests.length - before).toBeLessThan(100)
      expect(again.session.get().messages).toEqual([])
      server.instead = undefined
      void again.session.resync()
      await expectInStep(again)
    },
  )
})

describe('25: a server that answers to sending with', () => {
  test.each(ANSWERS)('%s gets the message once, when it is itself again', async (name, answer) => {
    const open = remoteChat()
    const { session, server, chat, world } = open
    await (await session.send('fine')).answer
    let hostile = true
    server.instead = ({ method, path }) => (hostile && `${method} ${path}` === SEND ? answer() : undefined)
    const sent = await session.send('one')
    await world.pass(60_000)
    expect(requestsTo(server, SEND).length).toBeLessThan(30)
    hostile = false
    // What may be over in a moment is not refused.
    if (/^(408|429|3|5|a page$)/.test(name)) expect(session.message(sent.id).get()?.status).toBe('pending')
    const { status } = session.message(sent.id).get() ?? {}
    if (status === 'failed') {
      await world.ended((await session.retry(sent.id)).answer)
    } else if (chat.health.get().outbox > 0) await world.ended(sent.answer)
    else {
      // Taken at its word: it said that it has the message. Nothing else can be known.
      expect(['nothing', 'no content', 'null', 'a number', 'an empty object', 'something deep']).toContain(
        name.startsWith('a stream') ||
          name === 'an empty stream' ||
          name.startsWith('lists') ||
          name === 'a prototype'
          ? 'nothing'
          : name,
      )
      return
    }
    expect(shown(session.get().messages)).toEqual(['fine', 're: fine', 'one', 're: one'])
    await expectInStep(open)
  })
})

test('25: an answer that is cut off is no answer: the message is sent again, with its key', async () => {
  const open = remoteChat()
  const { session, server, world } = open
  await (await session.send('fine')).answer
  await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
  let cuts = 2
  server.spoil = (response, { method, path }) => {
    if (`${method} ${path}` !== SEND || cuts-- <= 0) return response
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"message":{"id":'))
      },
      pull: (controller) => controller.error(new TypeError('network error')),
    })
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
  const sent = await session.send('one')
  expect(shown([await world.ended(sent.answer)])).toEqual(['re: one'])
  await world.until(() => requestsTo(server, SEND).length === 4)
  expect(
    new Set(
      requestsTo(server, SEND)
        .slice(1)
        .map(({ body }) => body),
    ).size,
  ).toBe(1)
  await expectInStep(open)
})

describe('25: a token that is no longer good', () => {
  test('is asked for once more, and the request goes through', async () => {
    let token = 0
    const { session, server, world } = remoteChat({
      headers: async () => ({ authorization: `Bearer ${++token}` }),
    })
    let good = 0
    server.instead = ({ headers }) => {
      const given = Number(headers.get('authorization')?.slice(7))
      if (given <= good) return refusal(401, 'auth')
      return undefined
    }
    await (await session.send('one')).answer
    // Nothing else is asked for that would use up a token: the feed is open again.
    await world.pass(100)
    good = token + 1
    await (await session.send('two')).answer
    expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
    expect(requestsTo(server, SEND).length).toBe(3)
  })

  test('fails the message after that, with no word of the token', async () => {
    const { session, server, chat, world } = remoteChat({
      headers: async () => ({ authorization: 'Bearer s3cret' }),
    })
    server.instead = () => refusal(401, 'auth')
    const sent = await session.send('one')
    expect(await ending(sent.answer)).toBe('auth')
    await world.pass(60_000)
    expect(requestsTo(server, 'POST /sessions').length).toBe(2)
    expect(session.message(sent.id).get()?.status).toBe('failed')
    expect(JSON.stringify([session.get(), chat.health.get()])).not.toContain('s3cret')
  })

  test('that cannot be had is a line that is down', async () => {
    let broken = true
    const { session, chat, world } = remoteChat({
      headers: async () => {
        if (broken) throw new TypeError('Failed to fetch')
        return {}
      },
    })
    const sent = await session.send('one')
    await world.pass(10_000)
    expect(chat.health.get()).toMatchObject({ connection: 'reconnecting', outbox: 2 })
    broken = false
    await world.until(() => session.get().messages.length === 2)
    expect(shown([await sent.answer])).toEqual(['re: one'])
  })
})
