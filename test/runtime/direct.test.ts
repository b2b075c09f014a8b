import { describe, expect, test } from 'vitest'
import type { OutboxRequest } from '../../src/chat/ports.ts'
import type { RuntimeHost } from '../../src/chat/runtime-port.ts'
import { assembleContext } from '../../src/context/assemble.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { type DirectOptions, direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { createHold, type Script, scriptedModel } from '../../src/testing/scripted-model.ts'
import { ending } from '../chat/direct-chat.ts'
import { cancel, send } from '../chat/rows.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { assistant, user } from '../protocol/rows.ts'

noStrayRejections()

/** A runtime, and a host that writes down what it is told. */
function stage(
  steps: Script,
  known: Message[] = [user('q', { status: 'pending' })],
  options: Omit<DirectOptions, 'model'> = {},
) {
  const events: ChatEvent[] = []
  const answers: Message[] = []
  const { env } = createWorld()
  const host: RuntimeHost = {
    env,
    account: 'default',
    offline: () => false,
    history: async (_, id) => known.slice(0, known.findIndex((message) => message.id === id) + 1),
    answers: () => answers,
    append: async (_, more) => {
      events.push(...more)
      return []
    },
    storage: memoryStorage(),
  }
  const model = scriptedModel(steps)
  const runtime = direct({ ...options, model })
  runtime.open(host)
  const flight = new AbortController()
  const { signal } = flight
  const ask = (request: OutboxRequest) =>
    runtime.dispatch(request, {
      sessionId: 's',
      key: 'k',
      account: 'default',
      feed: false,
      attempts: 0,
      signal,
    })
  return { runtime, model, events, answers, flight, ask, types: () => events.map(({ type }) => type) }
}

describe('a question to the page itself', () => {
  test('counts as accepted once the model has begun, and its end is told afterwards', async () => {
    const hold = createHold()
    const { ask, types } = stage([['half', hold, 'whole']])
    await ask(send('q'))
    expect(types()).toContain('message.started')
    expect(types()).not.toContain('message.completed')
    hold.release()
    await idle()
    expect(types().slice(-2)).toEqual(['message.completed', 'run.finished'])
  })

  test('gives the question its place before the answer has one', async () => {
    const { ask, events } = stage(['yes'])
    await ask(send('q'))
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'message.updated',
      'run.started',
      'message.created',
    ])
  })

  test('that was answered, or is being answered, is not asked again', async () => {
    for (const status of ['streaming', 'completed', 'failed', 'interrupted'] as const) {
      const { ask, model, answers, events } = stage(['yes'])
      answers.push(assistant('a', { runId: 'run-q', status }))
      await ask(send('q'))
      expect([model.calls.length, events.length]).toEqual([0, 0])
    }
  })

  test('that was put off goes on with the answer that it had begun', async () => {
    const { ask, events, answers } = stage(['yes'])
    answers.push(assistant('a', { runId: 'run-q', status: 'pending' }))
    await ask(send('q'))
    await idle()
    expect(events.find(({ type }) => type === 'message.completed')).toMatchObject({ message: { id: 'a' } })
  })

  test('that nobody has stored is refused, and the model is not asked', async () => {
    const { ask, model } = stage(['yes'], [])
    expect(await ending(ask(send('q')))).toBe('not-found')
    expect(model.calls.length).toBe(0)
  })

  test('that was cancelled before is not asked, in whatever order both come', async () => {
    const { ask, model } = stage(['yes'])
    await Promise.all([ask(cancel('run-q')), ask(send('q'))])
    expect(model.calls.length).toBe(0)
  })

  test('waits for the run before it, and no longer than somebody wants it', async () => {
    const hold = createHold()
    const open = stage(
      [['busy', hold], 'next'],
      [user('q', { seq: 1 }), user('r', { seq: 2, parentId: 'q' })],
    )
    await open.ask(send('q'))
    const next = ending(open.ask(send('r')))
    await idle()
    expect(open.model.calls.length).toBe(1)
    open.flight.abort()
    expect(await next).toBe('aborted')
    hold.release()
    await idle()
    expect(open.model.calls.length).toBe(1)
  })

  test('is asked with the text of an answer that was cut off, or without it, as its options say', async () => {
    const known = [
      user('p', { seq: 1 }),
      assistant('a', {
        seq: 2,
        parentId: 'p',
        status: 'interrupted',
        content: [{ type: 'text', text: 'Half' }],
      }),
      user('q', { seq: 3, parentId: 'a' }),
    ]
    const seen = async (options: Omit<DirectOptions, 'model'>) => {
      const { ask, model } = stage(['yes'], known, options)
      await ask(send('q'))
      await idle()
      return model.calls[0]?.context.messages.map(({ role, content }) => [role, textOf({ content })])
    }
    const question = expect.anything()
    expect(await seen({})).toEqual([
      ['user', question],
      ['assistant', 'Half [interrupted]'],
      ['user', question],
    ])
    const context: DirectOptions['context'] = (input) => assembleContext({ ...input, interrupted: 'drop' })
    expect((await seen({ context }))?.map(([role]) => role)).toEqual(['user', 'user'])
  })

  test('ends with the runtime, and with its session', async () => {
    for (const end of [
      (open: ReturnType<typeof stage>) => open.runtime.close(),
      (open: ReturnType<typeof stage>) => open.ask({ type: 'deleteSession' }),
    ]) {
      const open = stage([['half', { stall: true }]])
      await open.ask(send('q'))
      await end(open)
      await idle()
      expect(open.types()).toContain('message.interrupted')
    }
  })
})

test('a runtime that was given to no chat says so', async () => {
  const runtime = direct({ model: scriptedModel([]) })
  const { signal } = new AbortController()
  const context = { sessionId: 's', key: 'k', account: 'default', feed: false, attempts: 0, signal }
  expect(await ending(runtime.dispatch(send('q'), context))).toBe('invalid-request')
})
