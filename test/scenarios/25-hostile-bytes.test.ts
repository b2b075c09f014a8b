import { describe, expect, test } from 'vitest'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, isEvents, remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { cut, refusal, type Server, scriptedServer } from '../runtime/scripted-server.ts'

noStrayRejections()

const FEED = 'GET /sessions/s/events'
const PAGES = 'GET /sessions/s/messages'
const ANSWER = ['Hé', 'llo 👩‍👩‍👧 ', 'é̂ ', '\ud83d', '\ude00\u0000', '\ufeff.']
const WHOLE = ANSWER.join('')

const bytes = (text: string) => new TextEncoder().encode(text)

/** Every answer of events in other bytes. `first`: whether these are its first ones. */
function rewrite(server: Server, change: (chunk: Uint8Array, first: boolean) => Uint8Array[]): void {
  server.spoil = (response) => {
    if (!isEvents(response) || !response.body) return response
    let first = true
    const through = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (const piece of change(chunk, first)) controller.enqueue(piece)
        first = false
      },
    })
    return new Response(response.body.pipeThrough(through), response)
  }
}

const lines = (end: string) => (chunk: Uint8Array) =>
  bytes(new TextDecoder().decode(chunk).replaceAll('\n', end))

const inPieces = (chunk: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(chunk.length / size) }, (_, at) => chunk.slice(at * size, (at + 1) * size))

/** Bytes that say the same, or nothing. A stream's first bytes are a comment, which a mark replaces. */
const HARMLESS: [name: string, change: (chunk: Uint8Array, first: boolean) => Uint8Array[]][] = [
  ['as they are', (chunk) => [chunk]],
  ['behind a byte order mark', (chunk, first) => [first ? bytes('\ufeff') : chunk]],
  ['behind a byte order mark in pieces', (chunk, first) => (first ? inPieces(bytes('\ufeff'), 1) : [chunk])],
  ['in lines that end with CR LF', (chunk) => [lines('\r\n')(chunk)]],
  ['in lines that end with CR', (chunk) => [lines('\r')(chunk)]],
  ['in lines whose CR and LF are torn apart', (chunk) => inPieces(lines('\r\n')(chunk), 1)],
  ...[1, 2, 3, 5].map((size): (typeof HARMLESS)[number] => [
    `in pieces of ${size} bytes, through every character`,
    (chunk) => inPieces(chunk, size),
  ]),
  ['with empty pieces between', (chunk) => [new Uint8Array(), chunk, new Uint8Array()]],
  [
    'with waits that are none',
    (chunk) => [chunk, bytes('retry: soon\nretry: -1\nretry: 1e9\nretry:\nretry\n\n')],
  ],
  ['with a wait of ten thousand years', (chunk) => [chunk, bytes('retry: 315576000000000\n\n')]],
  ['with a wait of no time', (chunk) => [chunk, bytes('retry: 0\n\n')]],
  ['with ids of zeros that say nothing', (chunk) => [chunk, bytes('id: 7\0.x\n\n')]],
  ['with bytes that are no characters', (chunk) => [chunk, bytes(': '), Uint8Array.of(0xff, 0xc3, 10, 10)]],
  ['with fields nobody knows', (chunk) => [chunk, bytes('colour: blue\n\nevent\n\ndata\n\n\n')]],
]

describe('25: a feed that comes', () => {
  test.each(HARMLESS)('%s is heard as it was said', async (_, change) => {
    const server = scriptedServer({ answer: () => ANSWER })
    rewrite(server, change)
    const open = remoteChat({ server })
    const { session, world } = open
    expect(shown([await world.ended((await session.send('one')).answer)])).toEqual([WHOLE])
    await world.until(() => requestsTo(server, FEED).length > 0)
    cut(server, 'over')
    expect(shown([await world.ended((await session.send('two')).answer)])).toEqual([WHOLE])
    // Nothing had to be mended by pages.
    expect(requestsTo(server, PAGES).length).toBe(1)
    // Neither for ever, nor at once and again.
    await world.until(() => requestsTo(server, FEED).length > 1)
    await world.pass(60_000)
    expect(requestsTo(server, FEED).length).toBeLessThan(10)
    await expectInStep(open)
  })
})

describe('25: a feed that is answered with', () => {
  test.each([
    ['a page', () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
    [
      'a page that calls itself a stream',
      () => new Response('<p>\n\n', { headers: { 'content-type': 'text/event-stream' } }),
    ],
    ['401', () => refusal(401, 'auth')],
    ['429', () => refusal(429, 'rate-limit', { 'retry-after': '2' })],
    ['500', () => refusal(500, 'server')],
    ['503 as a page', () => new Response('<h1>', { status: 503 })],
  ])(
    '%s in the middle of a run is asked for with patience, and the run is heard to its end',
    async (_, answer) => {
      let goOn = () => {}
      const held = new Promise<void>((resolve) => {
        goOn = resolve
      })
      const server = scriptedServer({ answer: () => ['Hé', held, 'llo'] })
      const open = remoteChat({ server, world: createWorld({ name: 'hostile' }) })
      const { session, world } = open
      const { answer: promise } = await session.send('one')
      await world.until(() => shown(session.get().messages)[1] === 'Hé')
      const before = server.requests.length
      server.instead = ({ path }) => (path.endsWith('/events') ? answer() : undefined)
      cut(server)
      await world.pass(60_000)
      expect(server.requests.length - before).toBeLessThan(60)
      expect(session.get().messages[1]?.status).toBe('streaming')
      server.instead = undefined
      goOn()
      void session.resync()
      expect(shown([await world.ended(promise)])).toEqual(['Héllo'])
      await expectInStep(open)
    },
  )
})

test('25: a token that is changed in the middle of a run: the feed goes on with the new one', async () => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let token = 1
  const server = scriptedServer({ answer: () => ['Hé', held, 'llo'] })
  let good = 1
  const asked: number[] = []
  server.instead = ({ headers, path }) => {
    if (path.endsWith('/events')) asked.push(world.env.now())
    return headers.get('authorization') === `Bearer ${good}` ? undefined : refusal(401, 'auth')
  }
  // Whoever keeps the token hears of the change only by being asked again.
  const world = createWorld({ name: 'rotated' })
  const open = remoteChat({
    server,
    world,
    headers: async () => {
      const given = token
      token = good
      return { authorization: `Bearer ${given}` }
    },
  })
  const { session, chat } = open
  const { answer } = await session.send('one')
  await world.until(() => shown(session.get().messages)[1] === 'Hé')
  good = 2
  cut(server)
  asked.length = 0
  await world.until(() => asked.length === 2)
  // At once, not after a back-off.
  expect(asked[1]).toBe(asked[0])
  goOn()
  expect(shown([await world.ended(answer)])).toEqual(['Héllo'])
  expect(chat.health.get()).toMatchObject({ connection: 'online', outbox: 0 })
  await expectInStep(open)
})
