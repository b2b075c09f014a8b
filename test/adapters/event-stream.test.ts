import { describe, expect, test } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import type { AssistantDraft, ModelEvent } from '../../src/adapters/contract.ts'
import { eventStream } from '../../src/adapters/event-stream.ts'
import { TidemarkError } from '../../src/lib/errors.ts'

const message: AssistantDraft = {
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi' }],
  stopReason: 'stop',
}
const hi: ModelEvent = { type: 'text', index: 0, delta: 'Hi' }
const done: ModelEvent = { type: 'done', reason: 'stop', message }
const failed: ModelEvent = {
  type: 'error',
  reason: 'error',
  error: { code: 'server', message: 'no' },
  message: { ...message, stopReason: 'error' },
}

async function* from(
  events: readonly ModelEvent[],
  thrown?: unknown,
): AsyncGenerator<ModelEvent, void, void> {
  yield* events
  if (thrown !== undefined) throw thrown
}
async function listOf(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const list: ModelEvent[] = []
  for await (const event of events) list.push(event)
  return list
}

describe('an event stream', () => {
  test('gives the events, and its result for done and error alike', async () => {
    for (const last of [done, failed]) {
      const stream = eventStream(from([hi, last]))
      expect(await listOf(stream)).toEqual([hi, last])
      expect(await stream.result()).toEqual(last.message)
    }
  })

  test('is read by its result, where nobody else reads it', async () => {
    expect(await eventStream(from([hi, done])).result()).toBe(message)
    expect(await collect(from([hi, failed]))).toMatchObject({ stopReason: 'error' })
  })

  test('gives its result to whoever asks before the end', async () => {
    const stream = eventStream(from([hi, done]))
    const reading = listOf(stream)
    expect(await stream.result()).toBe(message)
    await reading
  })

  test('ends with what came so far, where its reader leaves', async () => {
    const stream = eventStream(from([hi, hi, done]))
    for await (const _ of stream) break
    expect(await stream.result()).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      stopReason: 'aborted',
    })
  })

  test('closes its source when its reader leaves', async () => {
    let closed = false
    const source = (async function* (): AsyncGenerator<ModelEvent, void, void> {
      try {
        for (;;) yield hi
      } finally {
        closed = true
      }
    })()
    for await (const _ of eventStream(source)) break
    expect(closed).toBe(true)
  })

  test('holds a source to its contract: a source that throws ends in an error, with what it said', async () => {
    const call: ModelEvent[] = [
      { type: 'start', model: 'm' },
      { type: 'thinking', index: 0, delta: 'hm' },
      { type: 'toolCall', phase: 'start', index: 1, id: 'c1', name: 'f' },
      { type: 'toolCall', phase: 'delta', index: 1, delta: '{"a"' },
      { type: 'usage', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 } },
    ]
    const events = await listOf(eventStream(from(call, new TidemarkError('network', 'gone'))))
    expect(events.at(-1)).toEqual({
      type: 'error',
      reason: 'error',
      error: { code: 'network', message: 'gone' },
      message: {
        role: 'assistant',
        model: 'm',
        content: [
          { type: 'thinking', text: 'hm' },
          { type: 'toolCall', id: 'c1', name: 'f', rawArguments: '{"a"' },
        ],
        usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 },
        stopReason: 'error',
      },
    })
  })

  test('and a source that stops without a word, one that aborts, or one that goes on after its end', async () => {
    expect((await listOf(eventStream(from([hi])))).at(-1)).toMatchObject({ error: { code: 'protocol' } })
    const aborted = from([hi], new DOMException('stop', 'AbortError'))
    expect((await listOf(eventStream(aborted))).at(-1)).toMatchObject({ type: 'error', reason: 'aborted' })
    expect(await listOf(eventStream(from([done, hi, done])))).toEqual([done])
    expect(await listOf(eventStream(from([done], new Error('late'))))).toEqual([done])
  })
})
