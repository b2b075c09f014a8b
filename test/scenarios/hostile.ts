import { isEvents } from '../runtime/remote-chat.ts'
import { json, refusal, type Server } from '../runtime/scripted-server.ts'

/** What is answered where bytes are torn: characters of all lengths, halves of pairs, zeros, a mark of byte order. */
export const ANSWER = ['Hé', 'llo 👩‍👩‍👧 ', 'é̂ ', '\ud83d', '\ude00\u0000', '\ufeff.']
export const WHOLE = ANSWER.join('')

const bytes = (text: string) => new TextEncoder().encode(text)

/** Every answer of events in other bytes. `first`: whether these are its first ones. */
export function rewrite(server: Server, change: (chunk: Uint8Array, first: boolean) => Uint8Array[]): void {
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
export const HARMLESS: [name: string, change: (chunk: Uint8Array, first: boolean) => Uint8Array[]][] = [
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

const html = () =>
  new Response('<!doctype html><title>Log in</title>', { headers: { 'content-type': 'text/html' } })

/** Everything that a server could answer instead of what was asked for. */
export const ANSWERS: [name: string, answer: () => Response][] = [
  ['a page', html],
  [
    'a page that says it is JSON',
    () => new Response('<html>', { headers: { 'content-type': 'application/json' } }),
  ],
  ['nothing', () => new Response(null, { status: 200 })],
  ['no content', () => new Response(null, { status: 204 })],
  ['null', () => json(null)],
  ['a number', () => json(42)],
  ['an empty object', () => json({})],
  ['lists of nonsense', () => json({ messages: [null, 1, 'x', {}, []], sessions: [null, 1, {}, []] })],
  ['something deep', () => new Response(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
  ['a prototype', () => new Response('{"__proto__":{"messages":[]},"constructor":{"prototype":1}}')],
  ['500', () => refusal(500, 'server')],
  ['304', () => new Response(null, { status: 304 })],
  ['302 to nowhere', () => new Response(null, { status: 302 })],
  ['502 as a page', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
  ['503 that calls itself invalid', () => refusal(503, 'invalid-request')],
  ['429', () => refusal(429, 'rate-limit', { 'retry-after': '1' })],
  ['408', () => new Response('', { status: 408 })],
  [
    'a stream of nonsense',
    () =>
      new Response('data: {\n\nevent: message.delta\ndata: []\n\nid: 1\n: \n\nretry: 0\n\n', {
        headers: { 'content-type': 'text/event-stream' },
      }),
  ],
  ['an empty stream', () => new Response('', { headers: { 'content-type': 'text/event-stream' } })],
]

/** What a feed could be answered with in the middle of a run. */
export const FEED_ANSWERS: [name: string, answer: () => Response][] = [
  ['a page', () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
  [
    'a page that calls itself a stream',
    () => new Response('<p>\n\n', { headers: { 'content-type': 'text/event-stream' } }),
  ],
  ['401', () => refusal(401, 'auth')],
  ['429', () => refusal(429, 'rate-limit', { 'retry-after': '2' })],
  ['500', () => refusal(500, 'server')],
  ['503 as a page', () => new Response('<h1>', { status: 503 })],
]

/** What is wrong with a feed, as text put in after its first events. */
export const POISONS: [name: string, frames: string | ((next: number) => string)][] = [
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
export function poison(server: Server, frames: string, times: number): void {
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
