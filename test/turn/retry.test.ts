import { describe, expect, test } from 'vitest'
import { ErrorCode } from '../../src/lib/error-data.ts'
import { isRetryable, TidemarkError } from '../../src/lib/errors.ts'
import { type ScriptPiece, scriptedModel } from '../../src/testing/scripted-model.ts'
import { outline, play, stagedEnv } from './stage.ts'

describe('a model call', () => {
  test.each(ErrorCode.options)('that fails with %s is made again where that may help', async (code) => {
    const model = scriptedModel([[{ error: code }], 'A line.'])
    const { outcome, folded } = await play({ model })
    expect(folded.problems).toEqual([])
    expect(model.calls).toHaveLength(isRetryable({ code }) ? 2 : 1)
    expect(outcome).toBe(isRetryable({ code }) ? 'completed' : code === 'aborted' ? 'interrupted' : 'failed')
  })

  test.each<[string, ScriptPiece[], number]>([
    ['nothing was said', [], 2],
    ['it was accepted', [{ start: true }], 2],
    ['only usage was told', [{ usage: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, total: 1 } }], 2],
    ['a word was said', ['A'], 1],
    ['a thought was said', [{ thinking: 'h' }], 1],
    ['a call was begun', [{ toolCall: { name: 'x', rawArguments: '' } }], 1],
    ['a picture was shown', [{ block: { type: 'image', mimeType: 'image/png', data: 'AAAA' } }], 1],
  ])('that fails after %s', async (_, before, calls) => {
    const model = scriptedModel([[...before, { error: 'network' }], 'A line.'])
    const { outcome, folded, messages } = await play({ model })
    expect(folded.problems).toEqual([])
    expect(model.calls).toHaveLength(calls)
    expect(outcome).toBe(calls === 2 ? 'completed' : 'failed')
    if (calls === 2) expect(messages).toMatchObject([{ content: [{ text: 'A line.' }] }])
  })

  test('that throws after a word was said is not made again, though the error would allow it', async () => {
    const model = scriptedModel([['A', { throw: new TidemarkError('network', 'lost') }], 'A line.'])
    const { messages } = await play({ model })
    expect(model.calls).toHaveLength(1)
    expect(messages).toMatchObject([
      { status: 'failed', error: { code: 'network' }, content: [{ text: 'A' }] },
    ])
  })

  test('is told as started once, however often it is made', async () => {
    const failing: ScriptPiece[] = [{ start: true }, { error: 'network' }]
    const { log } = await play({ model: scriptedModel([failing, failing, 'x']) })
    expect(outline(log.events)).toEqual([
      'run.started',
      'created',
      'started',
      'delta',
      'completed',
      'run.finished',
    ])
  })

  test.each([
    [undefined, 3],
    [0, 1],
    [5, 6],
  ])('is made again at most as often as %s says', async (maxRetries, calls) => {
    const model = scriptedModel(() => [{ error: 'server' }])
    const { outcome } = await play({ model, ...(maxRetries !== undefined && { maxRetries }) })
    expect(model.calls).toHaveLength(calls)
    expect(outcome).toBe('failed')
  })

  test('waits longer each time, and as long as it is asked to', async () => {
    const env = stagedEnv()
    const busy: ScriptPiece = { error: { code: 'rate-limit', message: 'busy', retryAfter: 7_000 } }
    await play({
      model: scriptedModel([[{ error: 'server' }], [{ error: 'server' }], [busy], 'x']),
      env,
      maxRetries: 3,
    })
    expect(env.slept).toEqual([250, 500, 7_000])
  })

  test('is not made again where one is asked to wait for more than a minute', async () => {
    const env = stagedEnv()
    const model = scriptedModel([
      [{ error: { code: 'rate-limit', message: 'tomorrow', retryAfter: 86_400_000 } }],
      'x',
    ])
    const { messages } = await play({ model, env })
    expect(env.slept).toEqual([])
    expect(messages).toMatchObject([
      { status: 'failed', error: { message: 'tomorrow', retryAfter: 86_400_000 } },
    ])
  })

  test('gets the same context again, made once', async () => {
    const model = scriptedModel([[{ error: 'network' }], 'x'])
    await play({ model })
    expect(model.calls[1]?.context).toBe(model.calls[0]?.context)
  })
})
