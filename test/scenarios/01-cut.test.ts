import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import { shown } from '../chat/direct-chat.ts'
import { type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { expectInStep, openClient, watch } from './client.ts'
import type { Fault } from './line.ts'
import { ended, pass, type Server, startServer } from './server.ts'

noStrayRejections()

const clock = tool({ name: 'clock', parameters: { type: 'object' }, execute: () => 'noon' })

/** An answer with all that an answer has: thoughts, a call and its result, characters of several bytes. */
const speaks = () =>
  scriptedModel((_, call) =>
    call % 2 === 0
      ? [{ thinking: 'hé?' }, { toolCall: { name: 'clock', arguments: { at: 'sea' } } }]
      : ['It is ', 'né', 'o', '😀', 'n.'],
  )

/** The same rows in a storage of their own. */
async function copyOf(storage: WatchedStorage): Promise<WatchedStorage> {
  const inner = memoryStorage()
  const { sessions } = await storage.start({ sessions: 9 })
  for (const session of sessions) {
    const { rows } = await storage.window(session.session.id, { limit: 999 })
    await inner.commit([
      { type: 'session', row: session },
      ...rows.map((row) => ({ type: 'message' as const, row })),
    ])
  }
  return watchedStorage(inner)
}

/** A device that has heard one run to its end. */
async function heardOne(server: Server) {
  const client = openClient(server, { name: 'before' })
  await ended(server, (await client.session.send('zero')).answer)
  await pass(server, 300)
  await client.chat.close()
  return client.storage.reopen()
}

/** The bytes that a feed says after a cursor, up to the end of what is known. */
async function recorded(server: Server, cursor: string): Promise<string> {
  const { eventId } = await (await server.ask('GET', '/sessions/s/messages')).json()
  const response = await server.ask('GET', '/sessions/s/events', undefined, { 'last-event-id': cursor })
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.includes(`id: ${eventId}\n`)) break
  }
  return text
}

/** A server that says what was recorded after any cursor, and keeps the line open. */
function replaying(server: Server, run: string): Server {
  const encoder = new TextEncoder()
  const feed = (cursor: string) => {
    const at = run.indexOf(`id: ${cursor}\n`)
    const text = at < 0 ? run : run.slice(run.indexOf('\n\n', at) + 2)
    return new ReadableStream<Uint8Array>({ start: (body) => body.enqueue(encoder.encode(text)) })
  }
  return {
    ...server,
    // Without a pause before it comes again.
    world: createWorld({ random: 0 }),
    serve: async ({ url, headers }) =>
      url.endsWith('/events')
        ? new Response(feed(headers.get('last-event-id') ?? ''), {
            headers: { 'content-type': 'text/event-stream' },
          })
        : Response.json({ sessions: [], hasMore: false }),
  }
}

/** The bytes up to and with the end of each message. */
const endsIn = (run: string) =>
  [...run.matchAll(/event: message\.completed\n.*?"id":"([^"]+)"[^\n]*\n\n/g)].map(
    ({ 0: frame, 1: id = '', index }) => ({ id, at: Buffer.byteLength(run.slice(0, index + frame.length)) }),
  )

test('1: a feed cut after any byte of a run is heard to its end, and only that end completes an answer', async () => {
  const model = scriptedModel(() => [{ thinking: 'hé?' }, 'It is néo😀n.'], { chunkSize: 5 })
  const server = startServer({ model })
  const before = await heardOne(server)
  const [stored] = (await before.start({ sessions: 1 })).sessions
  const body = { id: 'q', runId: 'r', content: [{ type: 'text', text: 'go' }] }
  await server.ask('POST', '/sessions/s/messages', { ...body, parentId: stored?.session.headId })
  await pass(server, 1_000)
  const run = await recorded(server, stored?.eventId ?? '')
  const ends = endsIn(run)
  expect(ends.length).toBe(1)
  const recording = replaying(server, run)
  for (let at = 1; at <= Buffer.byteLength(run); at++) {
    const client = openClient(recording, { name: `cut-${at}`, storage: await copyOf(before) })
    const watched = watch(client)
    let feeds = 0
    client.line.fault = ({ path }) =>
      path.endsWith('/events') && feeds++ === 0 ? { type: 'cut', at, how: 'silent' } : undefined
    await idle(8)
    for (const end of ends)
      expect(client.session.message(end.id).get()?.status === 'completed').toBe(at >= end.at)
    client.line.cut()
    await recording.world.pass(10)
    expect(feeds).toBe(2)
    watched.expectTruthful()
    expect(client.session.get()).toMatchObject({ status: 'ready', connection: 'online' })
    expect(shown(client.session.get().messages).at(-1)).toBe('It is néo😀n.')
    await client.chat.close()
  }
}, 120_000)

/** Asks a new server, over a line on which the answer to the question is spoilt like this. */
async function askOver(name: string, fault: Fault): Promise<void> {
  const server = startServer({ world: createWorld({ name }), model: speaks(), tools: [clock] })
  const client = openClient(server)
  const watched = watch(client)
  client.line.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith('/messages') ? fault : undefined
  const answer = await ended(server, (await client.session.send('go')).answer)
  expect(shown([answer])).toEqual(['It is néo😀n.'])
  watched.expectTruthful()
  const messages = await expectInStep(client)
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  await client.chat.close()
}

test('1: an answer that comes back on its request, cut after any byte, likewise', async () => {
  let size = 0
  const counted = (bytes: Uint8Array) => {
    size += bytes.length
    return [bytes]
  }
  await askOver('whole', { type: 'changed', pieces: counted })
  expect(size).toBeGreaterThan(1_000)
  for (let at = 1; at <= size; at += 41)
    await askOver(`cut-${at}`, { type: 'cut', at, how: at % 2 ? 'lost' : 'over' })
}, 120_000)
