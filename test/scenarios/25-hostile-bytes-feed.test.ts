import { describe, expect, test } from 'vitest'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, isEvents, remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { say } from '../runtime/scripted-routes.ts'
import { cut, openRoom, type Server, scriptedServer, stream } from '../runtime/scripted-server.ts'
import { POISONS, poison } from './hostile.ts'

noStrayRejections()

/** Lets the n-th byte of the k-th stream be the last. */
function cutAt(server: Server, at: number): { reached(): boolean } {
  let left = at
  let over = false
  server.spoil = (response) => {
    if (!isEvents(response) || over || !response.body) return response
    const reader = response.body.getReader()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
        if (done || !value) return controller.close()
        if (over || value.length <= left) {
          if (!over) left -= value.length
          return controller.enqueue(value)
        }
        if (left > 0) controller.enqueue(value.slice(0, left))
        over = true
        void reader.cancel()
        controller.error(new TypeError('network error'))
      },
      cancel: () => reader.cancel(),
    })
    return new Response(body, response)
  }
  return { reached: () => over }
}

test('25: a stream that is cut after any byte loses nothing, doubles nothing, and ends nothing', async () => {
  let at = 1
  for (let reached = true; reached; at += 7) {
    const server = scriptedServer({ answer: () => ['Hé', 'llo ', '😀'] })
    const { reached: isReached } = cutAt(server, at)
    const open = remoteChat({ server, world: createWorld({ name: `cut-${at}` }) })
    const seen = new Set<string>()
    const note = () => {
      const reply = open.session.get().messages[1]
      if (reply) seen.add(`${reply.status} ${shown([reply])[0]}`)
      return open.session.get().messages.length === 2 && reply?.status === 'completed'
    }
    const sent = await open.session.send('one')
    await open.world.until(note)
    expect(shown([await sent.answer])).toEqual(['Héllo 😀'])
    for (const state of seen) {
      const [status, ...words] = state.split(' ')
      expect('Héllo 😀'.startsWith(words.join(' '))).toBe(true)
      if (status === 'completed') expect(words.join(' ')).toBe('Héllo 😀')
    }
    await expectInStep(open)
    reached = isReached()
    await open.chat.close()
  }
  expect(at).toBeGreaterThan(1_000)
}, 60_000)

describe('25: a feed with', () => {
  test.each(POISONS)('%s is mended by pages', async (_, frames) => {
    const server = scriptedServer()
    const first = remoteChat({ server })
    for (const text of ['one', 'two']) await (await first.session.send(text)).answer
    await first.chat.close()
    const room = openRoom(server, 's')
    poison(server, typeof frames === 'string' ? frames : frames(room.log.length + 1), 3)
    const open = remoteChat({ server, world: createWorld({ name: 'new' }) })
    await open.world.pass(5_000)
    say(server, room, 'elsewhere', room.session.headId)
    await open.world.pass(40_000)
    void open.session.resync()
    await expectInStep(open)
  })

  test('a poison that never ends is asked for with patience', async () => {
    for (const [, frames] of POISONS.slice(0, 10)) {
      const server = scriptedServer()
      const room = openRoom(server, 's')
      say(server, room, 'one', null)
      poison(server, typeof frames === 'string' ? frames : frames(2), Number.POSITIVE_INFINITY)
      const open = remoteChat({ server, world: createWorld({ name: 'new' }) })
      await open.world.pass(60_000)
      expect(server.requests.length).toBeLessThan(80)
      expect(shown(open.session.get().messages)).toEqual(['one'])
      await open.chat.close()
    }
  })

  test('nothing but what is known, over and over, is asked for with patience', async () => {
    const server = scriptedServer()
    const room = openRoom(server, 's')
    say(server, room, 'one', null)
    // A feed that ignores the cursor, says everything again, and hangs up.
    server.instead = (seen) =>
      seen.path.endsWith('/events') ? stream(server, room, 0, seen, () => true) : undefined
    const open = remoteChat({ server, world: createWorld({ name: 'new' }) })
    await open.world.pass(120_000)
    expect(requestsTo(server, 'GET /sessions/s/events').length).toBeLessThan(30)
    expect(shown(open.session.get().messages)).toEqual(['one'])
  })

  test('events that are doubled and out of order ends where the server is', async () => {
    const server = scriptedServer()
    const open = remoteChat({ server })
    await (await open.session.send('one')).answer
    let turn = 0
    server.spoil = (response, { path }) => {
      if (!path.endsWith('/events') || !isEvents(response) || !response.body || turn > 4) return response
      turn++
      const held: Uint8Array[] = []
      const through = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          held.push(chunk)
          if (held.length % 2 === 1) return
          const [a, b] = held.splice(0)
          for (const piece of [b, a, b, a]) if (piece) controller.enqueue(piece)
        },
      })
      return new Response(response.body.pipeThrough(through), response)
    }
    cut(server, 'over')
    await (await open.session.send('two')).answer
    await expectInStep(open)
  })

  test('silence for long is opened again, comments are life', async () => {
    const open = remoteChat({ silence: 20_000 })
    const { session, server, world } = open
    await (await session.send('one')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length === 1)
    for (let minute = 0; minute < 6; minute++) {
      await world.pass(15_000)
      for (const controller of server.streams.keys())
        controller.enqueue(new TextEncoder().encode(': ping\n\n'))
    }
    expect(requestsTo(server, 'GET /sessions/s/events').length).toBe(1)
    await world.pass(25_000)
    expect(requestsTo(server, 'GET /sessions/s/events').length).toBe(2)
    expect(session.get().connection).toBe('online')
  })
})
