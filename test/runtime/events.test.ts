import { describe, expect, test } from 'vitest'
import type { EventBatch } from '../../src/chat/runtime-port.ts'
import { readEvents } from '../../src/runtime/events.ts'
import { createWorld, idle, noStrayRejections, type World } from '../chat/world.ts'

noStrayRejections()

const encoder = new TextEncoder()
const delta = (text: string) =>
  encoder.encode(`event: message.delta\ndata: ${JSON.stringify({ id: 'a', delta: text })}\n\n`)

/** A line whose other end is in the test's hand; after `most` batches nobody listens any more. */
function openLine(
  world: World,
  { signal = new AbortController().signal, most = Number.POSITIVE_INFINITY } = {},
) {
  const line = { closed: false, write: (_: Uint8Array) => {}, end: () => {}, fail: (_: unknown) => {} }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      line.write = (bytes) => controller.enqueue(bytes)
      line.end = () => controller.close()
      line.fail = (error) => controller.error(error)
    },
    cancel() {
      line.closed = true
    },
  })
  const headers = { 'content-type': 'text/event-stream', 'tidemark-heartbeat': '10' }
  const defaults = { sessionId: 's', now: 0, parentId: null }
  const events = readEvents(async () => new Response(body, { headers }), { defaults, env: world.env, signal })
  const batches: EventBatch[] = []
  const ended = (async () => {
    for await (const batch of events) if (batches.push(batch) >= most) break
  })().then(
    () => 'ended',
    (error: unknown) => error,
  )
  return { line, batches, ended }
}

describe('a feed that falls silent', () => {
  test('is given up after two and a half heartbeats, and its connection closed', async () => {
    const world = createWorld()
    const { line, ended } = openLine(world)
    await world.pass(24_900)
    expect(line.closed).toBe(false)
    await world.pass(200)
    expect(line.closed).toBe(true)
    expect(await ended).toMatchObject({ code: 'timeout' })
    expect(world.sleeping()).toBe(0)
  })

  test('is counted from the last byte, a comment included', async () => {
    const world = createWorld()
    const { line, ended } = openLine(world)
    for (let beat = 0; beat < 5; beat++) {
      await world.pass(20_000)
      line.write(encoder.encode(': ping\n\n'))
    }
    await world.pass(24_900)
    expect(line.closed).toBe(false)
    await world.pass(200)
    expect(await ended).toMatchObject({ code: 'timeout' })
  })
})

test('many chunks are read under one sleep, and none is left when they end', async () => {
  const world = createWorld()
  let sleeps = 0
  const { sleep } = world.env
  world.env.sleep = (ms, signal) => {
    sleeps++
    return sleep(ms, signal)
  }
  const { line, batches, ended } = openLine(world)
  for (let at = 0; at < 100; at++) line.write(delta(`${at} `))
  await idle()
  line.end()
  expect(await ended).toBe('ended')
  expect(batches.flatMap(({ envelopes }) => envelopes)).toHaveLength(100)
  expect(sleeps).toBe(1)
  expect(world.sleeping()).toBe(0)
})

describe('what is there at once', () => {
  const texts = (batches: readonly EventBatch[]) =>
    batches
      .map(({ envelopes }) =>
        envelopes.map(({ event }) => (event.type === 'message.delta' ? event.delta : '?')),
      )
      .filter((batch) => batch.length > 0)

  test('is one batch, what comes later another', async () => {
    const world = createWorld()
    const { line, batches, ended } = openLine(world)
    for (const text of ['a', 'b', 'c']) line.write(delta(text))
    await idle()
    line.write(delta('d'))
    await idle()
    line.end()
    expect(await ended).toBe('ended')
    expect(texts(batches)).toEqual([['a', 'b', 'c'], ['d']])
  })

  test('is handed over before the end of the line, or its break, is told', async () => {
    const world = createWorld()
    const whole = openLine(world)
    const broken = openLine(world)
    for (const { line } of [whole, broken]) for (const text of ['a', 'b']) line.write(delta(text))
    whole.line.end()
    expect(await whole.ended).toBe('ended')
    expect(texts(whole.batches)).toEqual([['a', 'b']])
    await idle()
    broken.line.fail(new TypeError('reset'))
    expect(await broken.ended).toMatchObject({ code: 'network' })
    expect(texts(broken.batches)).toEqual([['a', 'b']])
  })

  test('is handed over in parts where it is very much', async () => {
    const world = createWorld()
    const { line, batches, ended } = openLine(world)
    for (let at = 0; at < 2_500; at++) line.write(delta('x'))
    line.end()
    expect(await ended).toBe('ended')
    expect(texts(batches).map((batch) => batch.length)).toEqual([1_000, 1_000, 500])
  })

  test('is handed over, and the line closed, where nobody wants more of it', async () => {
    const world = createWorld()
    const { line, batches, ended } = openLine(world, { most: 2 })
    line.write(delta('a'))
    expect(await ended).toBe('ended')
    expect(texts(batches)).toEqual([['a']])
    expect(line.closed).toBe(true)
    expect(world.sleeping()).toBe(0)
  })
})

test('a line that breaks is told apart from one that was let go', async () => {
  const world = createWorld()
  const broken = openLine(world)
  broken.line.fail(new TypeError('reset'))
  expect(await broken.ended).toMatchObject({ code: 'network' })
  const abort = new AbortController()
  const left = openLine(world, { signal: abort.signal })
  await idle()
  abort.abort()
  left.line.fail(new DOMException('gone', 'AbortError'))
  expect(await left.ended).toMatchObject({ code: 'aborted' })
  expect(world.sleeping()).toBe(0)
})
