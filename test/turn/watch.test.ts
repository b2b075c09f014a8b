import { describe, expect, test } from 'vitest'
import type { StreamOptions } from '../../src/adapters/contract.ts'
import { assembleContext } from '../../src/context/assemble.ts'
import { CallRecord } from '../../src/context/call-record.ts'
import type { Usage } from '../../src/message/schema.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import type { CallStart, WatchCalls } from '../../src/turn/watch.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { play, tool } from './stage.ts'

const usage: Usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, total: 11 }
const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** Somebody who watches, and what they saw. */
function watcher() {
  const starts: CallStart[] = []
  const records: CallRecord[] = []
  const watch: WatchCalls = (start) => {
    starts.push(start)
    return { end: (record) => records.push(record) }
  }
  return { watch: [watch], starts, records }
}

describe('the record of a call', () => {
  test('says what went in and what came back', async () => {
    const seen = watcher()
    const history = [userMessage('u0'), assistantMessage('a0'), userMessage('u1')]
    const model = scriptedModel([['Hello', { usage }]])
    await play({ model, history, watch: seen.watch, traceparent: parent })
    expect(seen.records).toEqual([
      {
        id: 'id1',
        sessionId: 's1',
        runId: 'run1',
        messageId: 'a1',
        attempt: 0,
        provider: 'scripted',
        model: 'script',
        answeredBy: 'script',
        startedAt: expect.any(Number),
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: '8000000080000000',
        sent: {
          included: [
            { id: 'u0', reason: 'history', tokens: expect.any(Number) },
            { id: 'a0', reason: 'history', tokens: expect.any(Number) },
            { id: 'u1', reason: 'newest', tokens: expect.any(Number) },
          ],
          dropped: [],
          left: 0,
          policies: [],
          estimated: expect.any(Number),
          before: expect.any(Number),
          sections: [
            { name: 'history', tokens: expect.any(Number) },
            { name: 'newest', tokens: expect.any(Number) },
          ],
          redacted: 0,
        },
        status: 'completed',
        stopReason: 'stop',
        usage,
        firstByte: expect.any(Number),
        duration: expect.any(Number),
      },
    ])
    expect(CallRecord.parse(seen.records[0])).toEqual(seen.records[0])
    const [record] = seen.records
    expect(record?.duration).toBeGreaterThan(record?.firstByte ?? Number.NaN)
  })

  test('is made for each call of a run, all of one trace', async () => {
    const seen = watcher()
    const model = scriptedModel([[{ toolCall: { name: 'clock', arguments: {} } }], 'noon'])
    await play({ model, tools: [tool('clock', () => 'noon')], watch: seen.watch, traceparent: parent })
    expect(seen.records.map(({ stopReason }) => stopReason)).toEqual(['toolUse', 'stop'])
    expect(new Set(seen.records.map(({ traceId }) => traceId)).size).toBe(1)
    expect(seen.records[1]?.sent?.included.map(({ id }) => id)).toEqual(['u1', 'a1', 'id2'])
  })

  test('is made for each attempt, with the code of what went wrong', async () => {
    const seen = watcher()
    const model = scriptedModel([[{ error: 'network' }], ['x', { usage }]])
    const { messages } = await play({ model, watch: seen.watch })
    expect(seen.records).toMatchObject([
      { attempt: 0, status: 'failed', stopReason: 'error', error: { code: 'network' } },
      { attempt: 1, status: 'completed', usage },
    ])
    expect(seen.records[0]).not.toHaveProperty('usage')
    expect(seen.records[0]?.error?.traceId).toBe(seen.records[0]?.traceId)
    expect(messages).toHaveLength(1)
  })

  test('says that a call was stopped', async () => {
    const stop = new AbortController()
    const seen = watcher()
    const model = scriptedModel([['x', { stall: true }]])
    const running = play({ model, watch: seen.watch, signal: stop.signal })
    setImmediate(() => stop.abort())
    await running
    expect(seen.records).toMatchObject([{ status: 'interrupted', stopReason: 'aborted' }])
  })

  test('names what stayed out, the newest 200 of it, and counts the rest', async () => {
    const seen = watcher()
    const history = Array.from({ length: 300 }, (_, at) =>
      userMessage(`u${at}`, 'x', { status: at < 299 ? 'failed' : 'completed' }),
    )
    await play({ model: scriptedModel(['x']), history, watch: seen.watch })
    const sent = seen.records[0]?.sent
    expect(sent?.left).toBe(299)
    expect(sent?.dropped).toHaveLength(200)
    expect(sent?.dropped.at(-1)).toEqual({ id: 'u298', reason: 'failed' })
  })

  test('keeps what a context says of itself, and nothing of its content', async () => {
    const seen = watcher()
    const context: typeof assembleContext = (input) => ({
      ...assembleContext(input),
      ...{ before: 900, policies: ['window'], redacted: 2, sections: { history: 12 } },
    })
    const history = [userMessage('u1', 'my secret')]
    await play({ model: scriptedModel(['my secret']), history, context, watch: seen.watch })
    expect(seen.records[0]?.sent).toMatchObject({ before: 900, policies: ['window'], redacted: 2 })
    expect(JSON.stringify(seen.records)).not.toContain('secret')
  })
})

describe('who watches', () => {
  test('gives the request the trace of their own', async () => {
    const asked: (StreamOptions | undefined)[] = []
    const model = scriptedModel(['x'])
    const records: CallRecord[] = []
    const own = parent.replace('b7ad6b7169203331', '00f067aa0ba902b7')
    await play({
      model: {
        ...model,
        stream: (context, options) => {
          asked.push(options)
          return model.stream(context, options)
        },
      },
      watch: [() => ({ traceparent: own, end: (record) => records.push(record) })],
    })
    expect(asked).toMatchObject([{ traceparent: own }])
    expect(records).toMatchObject([{ spanId: '00f067aa0ba902b7' }])
  })

  test.each<[string, WatchCalls]>([
    [
      'at the beginning',
      () => {
        throw new Error('boom')
      },
    ],
    [
      'at the end',
      () => ({
        end() {
          throw new Error('boom')
        },
      }),
    ],
    ['by a trace that is none', () => ({ traceparent: 'boom' })],
  ])('and fails %s, fails nothing', async (_, failing) => {
    const seen = watcher()
    const { outcome } = await play({ model: scriptedModel(['x']), watch: [failing, ...seen.watch] })
    expect(outcome).toBe('completed')
    expect(seen.records).toMatchObject([{ spanId: '8000000080000000' }])
  })
})
