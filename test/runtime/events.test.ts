import { describe, expect, test } from 'vitest'
import type { EventBatch } from '../../src/chat/runtime-port.ts'
import { readEvents } from '../../src/runtime/events.ts'
import { createWorld, idle, type World } from '../chat/world.ts'

const encoder = new TextEncoder()
const delta = (text: string) =>
  encoder.encode(`event: message.delta\ndata: ${JSON.stringify({ id: 'a', delta: text })}\n\n`)

/** A line whose other end is in the test's hand. */
function openLine(world: World, signal = new AbortController().signal) {
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
    for await (const batch of events) batches.push(batch)
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

test('a line that breaks is told apart from one that was let go', async () => {
  const world = createWorld()
  const broken = openLine(world)
  broken.line.fail(new TypeError('reset'))
  expect(await broken.ended).toMatchObject({ code: 'network' })
  const abort = new AbortController()
  const left = openLine(world, abort.signal)
  await idle()
  abort.abort()
  left.line.fail(new DOMException('gone', 'AbortError'))
  expect(await left.ended).toMatchObject({ code: 'aborted' })
  expect(world.sleeping()).toBe(0)
})
