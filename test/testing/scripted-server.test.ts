import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ScriptedExchange,
  type ServerScript,
  scriptedExchange,
  scriptedFetch,
} from '../../src/testing/scripted-server.ts'

/** Writes one answer to a socket. */
async function write(exchange: ScriptedExchange, request: IncomingMessage, response: ServerResponse) {
  let body = ''
  for await (const piece of request) body += piece
  const { method = '', url: path = '' } = request
  const { status, headers, moves } = exchange.answer({ method, path, body })
  response.writeHead(status, headers).flushHeaders()
  for (const move of moves) {
    if ('stall' in move) return
    if ('reset' in move) {
      // What was written has to be heard before the connection breaks.
      await new Promise((resolve) => setImmediate(resolve))
      request.socket.resetAndDestroy()
      return
    }
    if ('bytes' in move) await new Promise((resolve) => response.write(move.bytes, resolve))
    else await move.hold
  }
  response.end()
}

/** The same script over real HTTP. */
async function overHttp(exchange: ScriptedExchange): Promise<typeof fetch> {
  const server = createServer((request, response) => void write(exchange, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return (input, init) => fetch(String(input).replace('http://server', `http://127.0.0.1:${port}`), init)
}

const DRIVERS: Readonly<Record<string, (exchange: ScriptedExchange) => Promise<typeof fetch>>> = {
  'in the process': async (exchange) => scriptedFetch(exchange),
  'over HTTP': overHttp,
}

/** What a client hears: status, text, and how it ended. A silence that lasts is cut by the client. */
async function hear(fetchIt: typeof fetch): Promise<string> {
  const hangUp = new AbortController()
  const response = await fetchIt('http://server/a?b=1', {
    method: 'POST',
    body: 'hello',
    signal: hangUp.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const timer = setTimeout(() => hangUp.abort(), 300)
    try {
      const piece = await reader?.read()
      if (!piece || piece.done) return `${response.status} ${text} over`
      text += piece.value
    } catch {
      return `${response.status} ${text} ${hangUp.signal.aborted ? 'silent' : 'lost'}`
    } finally {
      clearTimeout(timer)
    }
  }
}

const one = { raw: 'one ' }
const two = { raw: 'two ' }
const CASES: [name: string, script: ServerScript[number], heard: string][] = [
  ['expect', [{ expect: { method: 'POST', path: '/a?b=1', body: 'hello' } }, one], '200 one  over'],
  ['expect something else', [{ expect: { method: 'GET' } }, one], '500 method: expected GET, got POST over'],
  ['status', [{ status: 503, headers: { 'retry-after': '1' } }], '503  over'],
  ['event', [{ event: { data: { a: 1 }, id: '1.x' } }], '200 id: 1.x\ndata: {"a":1}\n\n over'],
  ['comment', [{ comment: 'hm' }], '200 : hm\n\n over'],
  ['raw bytes', [{ raw: new Uint8Array([0xc3, 0xa9]) }], '200 é over'],
  ['chunk', [{ chunk: 1 }, { raw: 'é🌊' }], '200 é🌊 over'],
  ['duplicate', [{ duplicate: true }, one, two], '200 one one two  over'],
  ['reorder', [{ reorder: true }, one, two], '200 two one  over'],
  ['drop', [{ drop: true }, one, two], '200 two  over'],
  ['hold', [one, { hold: new Promise((resolve) => setTimeout(resolve, 20)) }, two], '200 one two  over'],
  ['stall', [one, { stall: true }, two], '200 one  silent'],
  ['cut', [one, { cut: true }, two], '200 one  over'],
  [
    'reset',
    [one, { hold: new Promise((resolve) => setTimeout(resolve, 50)) }, { reset: true }],
    '200 one  lost',
  ],
]

for (const [driver, open] of Object.entries(DRIVERS))
  test.each(CASES)(`a scripted server ${driver}: %s`, async (_, steps, heard) => {
    const exchange = scriptedExchange([steps])
    const fetchIt = await open(exchange)
    expect(await hear(fetchIt)).toBe(heard)
    expect(exchange.requests).toEqual([{ method: 'POST', path: '/a?b=1', body: 'hello' }])
  })
