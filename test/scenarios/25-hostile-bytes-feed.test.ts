import { describe, expect, test } from 'vitest'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, isEvents, remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { say } from '../runtime/scripted-routes.ts'
import { cut, openRoom, type Server, scriptedServer, stream } from '../runtime/scripted-server.ts'

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

/** What is wrong with a feed, as text put in after its first events. */
const poisons: [name: string, frames: string | ((next: number) => string)][] = [
  ['a gap that was trimmed', 'event: gap\ndata: {"from":1,"to":9,"reason":"trimmed"}\n\n'],
  ['a gap of another history', 'event: gap\ndata: {"reason":"diverged"}\n\n'],
  ['a gap without words', 'event: gap\ndata: {}\n\n'],
  ['a known event that is no JSON', (n) => `id: ${n}.x\nevent: message.completed\ndata: {"mess\n\n`],
  [
    'a known event that says something else',
    (n) => `id: ${n}.x\nevent: message.created\ndata: {"message":7}\n\n`,
  ],
  ['a delta without a text', (n) => `id: ${n}.x\nevent: message.delta\ndata: {"id":"a"}\n\n`],
  [
    'a delta for nobody',
    (n) => `id: ${n}.x\nevent: message.delta\ndata: {"id":"nobody","index":7,"delta":"x","offset":99}\n\n`,
  ],
  ['an end of nobody', (n) => `id: ${n}.x\nevent: message.failed\ndata: {"id":"nobody","rev":1}\n\n`],
  [
    'a message of another session',
    (n) =>
      `id: ${n}.x\nevent: message.created\ndata: {"message":{"id":"m","sessionId":"other","role":"user","parentId":null,"status":"completed","content":[],"createdAt":1,"updatedAt":1,"v":1}}\n\n`,
  ],
  ['an unknown event', (n) => `id: ${n}.x\nevent: message.sung\ndata: {"song":1}\n\n`],
  ['a number from the future', 'id: 9000.x\nevent: run.started\ndata: {"runId":"r"}\n\n'],
  ['a number that was given already', 'id: 2.other\nevent: run.started\ndata: {"runId":"r"}\n\n'],
  ['an id of zeros', 'id: \0\nevent: run.started\ndata: {"runId":"r"}\n\n'],
  ['something of many megabytes', `event: message.delta\ndata: {"id":"a","delta":"${'x'.repeat(17_000_000)}`],
]

/** Puts something into the first feeds, behind what they say at once. */
function poison(server: Server, frames: string, times: number): void {
  let left = times
  server.spoil = (response, { path }) => {
    if (!path.endsWith('/events') || !isEvents(response) || !response.body || left-- <= 0) return response
    const encoder = new TextEncoder()
    const through = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk)
        if (frames) controller.enqueue(encoder.encode(frames))
      },
    })
    return new Response(response.body.pipeThrough(through), response)
  }
}

describe('25: a feed with', () => {
  test.each(poisons)('%s is mended by pages', async (_, frames) => {
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
    for (const [, frames] of poisons.slice(0, 10)) {
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
