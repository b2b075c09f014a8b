import { describe, expect, test } from 'vitest'
import { traceOf } from '../../src/lib/trace.ts'
import { remote } from '../../src/runtime/remote.ts'
import { remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { json, scriptedServer } from './scripted-server.ts'

const record = {
  id: 'c1',
  sessionId: 's',
  runId: 'r1',
  messageId: 'a1',
  attempt: 0,
  provider: 'openai',
  model: 'gpt-4o-mini',
  startedAt: 1,
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  status: 'completed',
  stopReason: 'stop',
  duration: 20,
}

describe('the calls of a session whose server asks the model', () => {
  test('are the server’s, as far as they can be read', async () => {
    const server = scriptedServer({})
    server.instead = ({ path }) =>
      path === '/sessions/s/calls' ? json({ calls: [{ half: true }, record] }) : undefined
    const { session, world } = remoteChat({ server })
    expect(await world.ended(session.calls())).toEqual([record])
  })

  test('are none where the server keeps none', async () => {
    const { session, world } = remoteChat()
    expect(await world.ended(session.calls())).toEqual([])
  })

  test('are not known where it fails', async () => {
    const server = scriptedServer({})
    server.instead = ({ path }) =>
      path === '/sessions/s/calls' ? new Response(null, { status: 500 }) : undefined
    const { session, world } = remoteChat({ server })
    await expect(world.ended(session.calls())).rejects.toMatchObject({ code: 'server' })
  })
})

describe('a request', () => {
  test('is the first step of a trace of its own', async () => {
    const { session, world, server } = remoteChat()
    await world.ended((await world.ended(session.send('Hello'))).answer)
    const traces = server.requests.map(({ headers }) => traceOf(headers.get('traceparent'))?.traceId)
    expect(traces.length).toBeGreaterThan(1)
    expect(traces).not.toContain(undefined)
    expect(requestsTo(server, SEND)).toHaveLength(1)
  })

  test('that fails says of which', async () => {
    const server = scriptedServer({})
    server.instead = ({ path }) => (path.endsWith('/calls') ? new Response('', { status: 403 }) : undefined)
    const { session, world } = remoteChat({ server })
    const thrown = await world.ended(session.calls()).catch((error) => error)
    const asked = server.requests.find(({ path }) => path.endsWith('/calls'))
    expect(thrown.data.traceId).toBe(traceOf(asked?.headers.get('traceparent'))?.traceId)
  })

  test.each<[string, { trace?: boolean; headers?: Record<string, string> }, string | null]>([
    ['carries none where the options say so', { trace: false }, null],
    ['carries the one that its headers have', { headers: { traceparent: 'mine' } }, 'mine'],
  ])('%s', async (_, options, said) => {
    let headers = new Headers()
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      headers = new Headers(init?.headers)
      return json({ sessions: [], hasMore: false })
    }
    await remote({ url: 'http://server', fetch, ...options }).sessions(
      { limit: 1 },
      AbortSignal.timeout(1_000),
    )
    expect(headers.get('traceparent')).toBe(said)
  })
})
