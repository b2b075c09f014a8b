import { describe, expect, test } from 'vitest'
import { createHold, type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { runTurn } from '../../src/turn/run-turn.ts'
import { appendsOf, options, type Play, play, recorder, stagedEnv, tool } from './stage.ts'

/** Plays a run that is stopped when `when` resolves. */
async function stopped(given: Play, when: (log: ReturnType<typeof recorder>) => Promise<unknown>) {
  const controller = new AbortController()
  const log = given.log ?? recorder()
  const run = play({ ...given, log, signal: controller.signal })
  await when(log)
  controller.abort()
  const staged = await run
  expect(staged.folded.problems).toEqual([])
  expect(staged.folded.outcome).toBe(staged.outcome)
  return staged
}

const call = (name: string) => ({ toolCall: { name, arguments: {} } })

describe.each([
  ['that listens', false],
  ['that never reacts', true],
])('a run whose model is one %s', (_, deaf) => {
  const model = (...steps: ScriptStep[]) => scriptedModel(steps, { deaf })

  test('stops in the middle of an answer and keeps its text', async () => {
    const { messages, outcome, log } = await stopped({ model: model(['A li', { stall: true }]) }, (log) =>
      log.seen('message.delta'),
    )
    expect(outcome).toBe('interrupted')
    expect(messages).toMatchObject([
      { status: 'interrupted', stopReason: 'aborted', content: [{ type: 'text', text: 'A li' }] },
    ])
    expect(messages[0]).not.toHaveProperty('error')
    expect(appendsOf(log).at(-1)).toBe('interrupted run.finished')
  })

  test('stops before the first word', async () => {
    const { messages, log } = await stopped({ model: model([{ stall: true }]) }, (log) =>
      log.seen('message.created'),
    )
    expect(messages).toMatchObject([{ status: 'interrupted', content: [] }])
    expect(appendsOf(log)).toEqual(['run.started created', 'interrupted run.finished'])
  })

  test('stops within a call, which is kept as it was written and never executed', async () => {
    const step = [{ toolCall: { name: 'book', rawArguments: '{"seat":' } }, { stall: true as const }]
    const book = tool('book', () => {
      throw new Error('executed')
    })
    const given = { model: model(step), tools: [book] }
    const { messages } = await stopped(given, (log) => log.seen('message.delta', 2))
    expect(messages).toMatchObject([
      { status: 'interrupted', content: [{ type: 'toolCall', name: 'book', rawArguments: '{"seat":' }] },
    ])
  })
})

describe('a run that is stopped', () => {
  test('before it began has an answer that says so, and calls nobody', async () => {
    const model = scriptedModel(['x'])
    const context = () => {
      throw new Error('assembled')
    }
    const { outcome, messages } = await stopped({ model, context }, async () => undefined)
    const log = recorder()
    const late = await play({ model, log, signal: AbortSignal.abort() })
    expect([outcome, late.outcome]).toEqual(['interrupted', 'interrupted'])
    expect([messages[0]?.status, late.messages[0]?.status]).toEqual(['interrupted', 'interrupted'])
    expect(model.calls).toEqual([])
    expect(appendsOf(log)).toEqual(['run.started created', 'interrupted run.finished'])
  })

  test('half a character is not kept', async () => {
    const { messages } = await stopped({ model: scriptedModel([['A \ud83c', { stall: true }]]) }, (log) =>
      log.seen('message.delta'),
    )
    expect(messages).toMatchObject([{ content: [{ text: 'A ' }] }])
  })

  test('while a tool runs that never reacts answers its call, and does not wait', async () => {
    const begun = createHold()
    let signal: AbortSignal | undefined
    const stuck = tool('stuck', (_, context) => {
      signal = context.signal
      begun.release()
      return new Promise(() => {})
    })
    const given = {
      model: scriptedModel([[call('stuck'), call('soon')]]),
      tools: [stuck, tool('soon', () => 1)],
    }
    const { outcome, messages, log } = await stopped(given, async () => {
      await begun.hold
      await new Promise((resolve) => setImmediate(resolve))
    })
    expect(outcome).toBe('interrupted')
    expect(signal?.aborted).toBe(true)
    expect(messages.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(messages[1]).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('stopped while') }],
    })
    expect(messages[2]).toMatchObject({ isError: false, content: [{ text: '{"ok":true,"data":1}' }] })
    expect(appendsOf(log).at(-1)).toBe('completed run.finished')
  })

  test('between the answer and its calls executes none of them', async () => {
    const controller = new AbortController()
    const log = recorder((events) => {
      if (events.some((event) => event.type === 'message.completed')) controller.abort()
    })
    const executed: string[] = []
    const tools = [tool('spy', () => executed.push('spy'))]
    const { messages, outcome } = await play({
      model: scriptedModel([[call('spy')]]),
      tools,
      log,
      signal: controller.signal,
    })
    expect(outcome).toBe('interrupted')
    expect(executed).toEqual([])
    expect(messages[1]).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('before the tool') }],
    })
  })

  test('between results and the next answer leaves that one empty', async () => {
    const controller = new AbortController()
    const log = recorder((events) => {
      if (events.some((event) => event.type === 'message.created' && event.message.id === 'id2'))
        controller.abort()
    })
    const model = scriptedModel([[call('soon')], 'Done.'])
    const { messages, outcome } = await play({
      model,
      tools: [tool('soon', () => 1)],
      log,
      signal: controller.signal,
    })
    expect(outcome).toBe('interrupted')
    expect(model.calls).toHaveLength(1)
    expect(messages.map(({ status }) => status)).toEqual(['completed', 'completed', 'interrupted'])
  })

  test('when all is said is completed all the same', async () => {
    const controller = new AbortController()
    const log = recorder((events) => {
      if (events.some((event) => event.type === 'run.finished')) controller.abort()
    })
    expect((await play({ model: scriptedModel(['x']), log, signal: controller.signal })).outcome).toBe(
      'completed',
    )
  })

  test('while it waits to try again does not try again', async () => {
    const env = stagedEnv()
    const model = scriptedModel([[{ error: 'network' }], 'x'])
    const sleeping = createHold()
    const given = {
      model,
      env: {
        ...env,
        sleep: () => {
          sleeping.release()
          return new Promise<void>(() => {})
        },
      },
    }
    const { outcome } = await stopped(given, () => sleeping.hold)
    expect(outcome).toBe('interrupted')
    expect(model.calls).toHaveLength(1)
  })

  test('while its context is made does not wait for it', async () => {
    const asked = createHold()
    const model = scriptedModel(['x'])
    const context = () => {
      asked.release()
      return new Promise<never>(() => {})
    }
    const { outcome } = await stopped({ model, context }, () => asked.hold)
    expect(outcome).toBe('interrupted')
    expect(model.calls).toEqual([])
  })

  test('while the log is slow does not wait for room in it', async () => {
    const disk = createHold()
    const log = recorder((events) => (events[0]?.type === 'message.delta' ? disk.hold : undefined))
    const model = scriptedModel(['x'.repeat(100)], { chunkSize: 1 })
    const { outcome, messages } = await stopped({ model, log }, (log) => log.seen('message.delta', 16))
    expect(outcome).toBe('interrupted')
    expect(messages).toMatchObject([{ content: [{ text: 'x'.repeat(16) }] }])
    disk.release()
  })

  test('lets go of the signal it was given', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--
      removeEventListener.apply(signal, args)
    }
    await runTurn(options({ model: scriptedModel(['x'.repeat(50)], { chunkSize: 1 }), signal }))
    expect(listeners).toBe(0)
  })
})
