import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { CallRecord } from '../../src/context/call-record.ts'
import { traceOf } from '../../src/lib/trace.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { type CallLine, logger } from '../../src/telemetry/logger.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { proxy } from './proxied.ts'
import { failureIn, type Stage, stage } from './stage.ts'
import { upstream } from './upstream.ts'

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const Calls = z.object({ calls: z.array(CallRecord) })

/** Sends a message and waits for the end of its run. */
async function send({ ask }: Stage, id: string, headers: Record<string, string> = {}) {
  const body = { id, runId: `run-${id}`, parentId: null, content: [{ type: 'text', text: 'my secret' }] }
  const response = await ask('POST', '/sessions/s1/messages', body, {
    accept: 'text/event-stream',
    ...headers,
  })
  return response.text()
}

const callsOf = async ({ ask }: Stage) =>
  Calls.parse(await (await ask('GET', '/sessions/s1/calls')).json()).calls

async function opened(options: Parameters<typeof stage>[0] = {}): Promise<Stage> {
  const server = stage(options)
  await server.ask('POST', '/sessions', { id: 's1' })
  return server
}

describe('the calls that a server makes', () => {
  test('are kept, with what was sent and what came back, and without a word of it', async () => {
    const server = await opened()
    expect(await callsOf(server)).toEqual([])
    await send(server, 'm1')
    const calls = await callsOf(server)
    expect(calls).toMatchObject([
      { sessionId: 's1', runId: 'run-m1', status: 'completed', sent: { included: [{ id: 'm1' }] } },
    ])
    expect(JSON.stringify(calls)).not.toContain('secret')
  })

  test('are two where the model found the first too long', async () => {
    const model = scriptedModel(({ messages }) =>
      messages.length > 2 ? [{ error: 'context-overflow' }] : 'x'.repeat(900),
    )
    const server = await opened({ model })
    await send(server, 'm1')
    await send(server, 'm2')
    const calls = await callsOf(server)
    expect(calls.map(({ attempt, error }) => [attempt, error?.code])).toEqual([
      [0, undefined],
      [0, 'context-overflow'],
      [1, undefined],
    ])
  })

  test('are the newest so many, also after another start', async () => {
    const store = sqliteStore(':memory:')
    const first = await opened({ store, keepCalls: 2 })
    await send(first, 'm1')
    await send(first, 'm2')
    const second = stage({ store, keepCalls: 2 })
    await send(second, 'm3')
    expect((await callsOf(second)).map(({ runId }) => runId)).toEqual(['run-m2', 'run-m3'])
  })

  test('are nobody else’s, and go with their session', async () => {
    const db = new Sqlite(':memory:')
    const store = sqliteStore(db)
    const authorize = (request: Request) => request.headers.get('x-user')
    const server = stage({ store, authorize })
    const ann = { 'x-user': 'ann' }
    await server.ask('POST', '/sessions', { id: 's1' }, ann)
    await send(server, 'm1', ann)
    const asked = await server.ask('GET', '/sessions/s1/calls', undefined, { 'x-user': 'bob' })
    expect((await failureIn(asked)).status).toBe(404)
    expect(await store.records?.({ account: 'bob', sessionId: 's1' }).read('call')).toEqual([])
    const records = store.records?.({ account: 'ann', sessionId: 's1' })
    expect(await records?.read('call')).toHaveLength(1)
    await server.ask('DELETE', '/sessions/s1', undefined, ann)
    await records?.write('call', [{ key: 'late', value: {} }])
    expect(await records?.read('call')).toEqual([])
    expect(db.prepare('select * from records').all()).toEqual([])
    expect((await server.ask('GET', '/sessions/s1/calls', undefined, ann)).status).toBe(410)
  })

  test('are none where the store keeps none', async () => {
    const { records: _, ...store } = sqliteStore(':memory:')
    const server = await opened({ store })
    await send(server, 'm1')
    expect((await failureIn(await server.ask('GET', '/sessions/s1/calls'))).status).toBe(404)
  })

  test('are told to who watches', async () => {
    const lines: CallLine[] = []
    const server = await opened({ watch: [logger((line) => lines.push(line))] })
    await send(server, 'm1')
    expect(lines).toMatchObject([{ session: 's1', run: 'run-m1', status: 'completed' }])
  })
})

describe('the trace of a request', () => {
  test('goes on to the model, and into the record of the call', async () => {
    const traces: (string | undefined)[] = []
    const model = scriptedModel(() => 'x')
    const server = await opened({
      model: {
        ...model,
        stream: (context, options) => {
          traces.push(options?.traceparent)
          return model.stream(context, options)
        },
      },
    })
    await send(server, 'm1', { traceparent: parent })
    await send(server, 'm2')
    expect(traces.map((one) => traceOf(one)?.traceId === traceOf(parent)?.traceId)).toEqual([true, false])
    expect((await callsOf(server)).map(({ spanId }) => spanId)).toEqual(
      traces.map((one) => traceOf(one)?.spanId),
    )
  })

  test('is named where the request is refused', async () => {
    const server = stage()
    const answered = await server.ask('GET', '/sessions/none', undefined, { traceparent: parent })
    expect(await answered.json()).toMatchObject({ error: { traceId: traceOf(parent)?.traceId } })
  })

  test('goes through the proxy, which begins one where there is none', async () => {
    const { url, heard } = await upstream()
    const { ask } = proxy(url)
    await ask('/llm/openai/chat/completions', { headers: { traceparent: parent } })
    await ask('/llm/openai/chat/completions', { headers: { traceparent: '00-1-1-01' } })
    const [one, other] = heard.map(({ headers }) => traceOf(String(headers.traceparent)))
    expect(one?.traceId).toBe(traceOf(parent)?.traceId)
    expect(one?.spanId).not.toBe(traceOf(parent)?.spanId)
    expect(other).toBeDefined()
    const refused = await ask('/llm/other', { headers: { traceparent: parent } })
    expect(await refused.json()).toMatchObject({ error: { traceId: traceOf(parent)?.traceId } })
  })
})
