import { describe, expect, test } from 'vitest'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { hearAll, responseOf, textIn } from './answers.ts'
import { completed, created, delta, event, says, start, step } from './interaction-events.ts'

const adapter = interactionsAdapter()
const hear = (body: string) => hearAll(adapter, responseOf([body]))
const hearWhole = (interaction: object) => hear(JSON.stringify(interaction))

describe('how an answer ends', () => {
  test.each([
    ['completed', 'stop', undefined],
    ['requires_action', 'stop', undefined],
    ['incomplete', 'length', undefined],
    ['budget_exceeded', 'length', undefined],
    ['failed', 'error', 'server'],
    ['cancelled', 'aborted', 'aborted'],
    ['constructor', 'error', 'server'],
  ])('%s is %s, and the text is kept, in pieces and whole', async (status, reason, code) => {
    const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'Once' }] }]
    for (const heard of [
      await hear(says(0, 'Once') + completed(status)),
      await hearWhole({ object: 'interaction', status, steps }),
    ]) {
      expect(textIn(heard.message)).toBe('Once')
      expect([heard.message.stopReason, heard.error?.code]).toEqual([reason, code])
    }
  })

  test('without a completion is an error, with the text kept', async () => {
    const { message, error } = await hear(created() + says(0, 'Onc'))
    expect(textIn(message)).toBe('Onc')
    expect(error?.code).toBe('network')
  })

  test('marked, without a completion, is well, but in the background', async () => {
    const body = `${created()}${says(0, 'Once')}event: done\ndata: [DONE]\n\n`
    expect((await hear(body)).message.stopReason).toBe('stop')
    const background = interactionsAdapter({ background: true })
    expect((await hearAll(background, responseOf([body]))).error?.code).toBe('network')
  })

  test.each(['failed', 'cancelled'])(
    '%s is how it ends, also where only its status says so',
    async (status) => {
      const body = created() + says(0, 'Onc') + event('interaction.status_update', { status })
      const { message, error } = await hear(body)
      expect(textIn(message)).toBe('Onc')
      expect(error?.message).toContain(status)
      expect(message.stopReason).toBe(status === 'failed' ? 'error' : 'aborted')
    },
  )

  test('a status that is no failure ends nothing: the rest may be lost', async () => {
    const body = says(0, 'Onc') + event('interaction.status_update', { status: 'completed' })
    expect((await hear(body)).error?.code).toBe('network')
  })

  test('an error in the stream is told in its words, with the text kept', async () => {
    const error = { message: 'Deadline expired before operation could complete.', code: 'gateway_timeout' }
    const heard = await hear(says(0, 'Onc') + event('error', { error }))
    expect(textIn(heard.message)).toBe('Onc')
    expect(heard.error).toMatchObject({ code: 'timeout', message: expect.stringContaining(error.message) })
  })

  test('the error of a step is why the answer failed', async () => {
    const failed = (error: object) =>
      hear(step(0, { type: 'model_output', error }) + completed('failed')).then((heard) => heard.error)
    expect(await failed({ code: 13, message: 'Internal.' })).toMatchObject({
      code: 'server',
      message: 'Internal.',
    })
    const details = [{ reason: 'PROHIBITED_CONTENT' }]
    expect(await failed({ code: 7, message: 'Blocked.', details })).toMatchObject({
      code: 'refusal',
      message: 'Blocked.',
    })
  })

  test('the error of a whole answer is told, and its steps are kept', async () => {
    const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'Onc' }] }]
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' }
    const heard = await hearWhole({ object: 'interaction', status: 'failed', steps, error })
    expect(textIn(heard.message)).toBe('Onc')
    expect(heard.error).toMatchObject({ code: 'rate-limit' })
  })

  test('the receipt of an answer in the background is none', async () => {
    const { error } = await hearWhole({ object: 'interaction', id: 'v1_1', status: 'in_progress' })
    expect(error).toMatchObject({ code: 'protocol', message: 'there is no answer yet: in_progress' })
  })

  test('what is no interaction is none', async () => {
    expect((await hearWhole({ hello: 'world' })).error?.code).toBe('protocol')
  })
})

describe('what an answer costs', () => {
  const usage = {
    total_tokens: 40,
    total_input_tokens: 20,
    total_cached_tokens: 5,
    total_tool_use_tokens: 3,
    total_output_tokens: 7,
    total_thought_tokens: 10,
  }
  const counted = { input: 18, output: 17, cacheRead: 5, cacheWrite: 0, total: 40, reasoning: 10 }

  test('is without what came from a cache, and with what was thought and what tools read', async () => {
    expect((await hear(says(0, 'x') + completed('completed', { usage }))).message.usage).toEqual(counted)
  })

  test('is told by the newest report, also beside an event', async () => {
    const early = { ...usage, total_output_tokens: 1, total_tokens: 34 }
    const pieces = [
      event('step.delta', { index: 0, delta: { type: 'text', text: 'x' }, metadata: { total_usage: early } }),
      event('step.delta', { index: 0, delta: { type: 'text', text: 'y' }, metadata: { usage } }),
    ]
    expect((await hear(pieces.join(''))).message.usage).toEqual(counted)
    expect((await hear(pieces[0] ?? '')).message.usage).toMatchObject({ total: 34 })
  })

  test('is kept raw where the numbers contradict each other, and absent where there are none', async () => {
    const odd = { ...usage, total_tokens: 99 }
    const { message } = await hear(completed('completed', { usage: odd }))
    expect(message).toMatchObject({ usageRaw: odd })
    expect(message.usage).toBeUndefined()
    const none = await hear(completed('completed', { usage: { total_output_tokens: 3 } }))
    expect(none.message).not.toHaveProperty('usage')
  })
})

test('an answer that never ends is cut off before it fills the memory', async () => {
  const small = interactionsAdapter({ limits: { answer: 2_000 } })
  const endless = [
    start(0, { type: 'thought', light: 'x'.repeat(2_000) }),
    delta(0, { type: 'light', beams: 'x'.repeat(2_000) }),
    Array.from({ length: 100 }, (_, i) => start(i, {})).join(''),
  ]
  for (const body of endless) {
    const { error } = await hearAll(small, responseOf([body]))
    expect(error).toMatchObject({ code: 'protocol', message: expect.stringContaining('2000 characters') })
  }
})
