import { describe, expect, test } from 'vitest'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { hearAll, responseOf, textIn } from './answers.ts'
import { completed, done, ended, hear, hearWhole, message, sse, written } from './openai-responses-events.ts'

describe('an end', () => {
  test('by a filter is a refusal with the text kept', async () => {
    const { message: heard, error } = await hear(
      written(0, 0, 'Once'),
      ended('incomplete', { incomplete_details: { reason: 'content_filter' } }),
    )
    expect(textIn(heard)).toBe('Once')
    expect(error).toMatchObject({ code: 'refusal', message: 'the model stopped: content_filter' })
  })

  test('that does not come is an error with the text kept, [DONE] or not', async () => {
    for (const mark of ['', 'data: [DONE]\n\n']) {
      const body = sse([{ ...written(0, 0, 'Half'), type: 'response.output_text.delta' }]) + mark
      const { message: heard, error } = await hearAll(responsesAdapter(), responseOf([body]))
      expect([textIn(heard), error?.code]).toEqual(['Half', 'network'])
    }
  })

  test('by cancelling is an abortion', async () => {
    const { message: heard, error } = await hear(written(0, 0, 'Half'), ended('cancelled'))
    expect([textIn(heard), heard.stopReason, error?.code]).toEqual(['Half', 'aborted', 'aborted'])
  })

  test('by failure says why, and what came before it', async () => {
    const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }
    const output = [message('m', 'Half')]
    const headers = { 'x-request-id': 'req_1' }
    for (const heard of [
      await hearWhole({ id: 'r', status: 'failed', output, error }, { headers }),
      await hearAll(
        responsesAdapter(),
        responseOf([sse([{ type: 'response.failed', response: { id: 'r', output, error } }])], { headers }),
      ),
    ]) {
      expect(heard.message).toMatchObject({
        responseId: 'r',
        content: [{ text: 'Half' }],
        stopReason: 'error',
      })
      expect(heard.error).toMatchObject({ code: 'context-overflow', requestId: 'req_1' })
    }
  })

  test('by an error event alone says that error', async () => {
    const body = sse([
      { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', sequence_number: 1 },
    ])
    const { error } = await hearAll(responsesAdapter(), responseOf([body]))
    expect(error).toMatchObject({ code: 'rate-limit', message: 'Slow down (rate_limit_exceeded)' })
  })

  test('by an error event, then by a failure without words, says that error once', async () => {
    const body = sse([
      { type: 'error', message: 'Slow down', code: 'rate_limit_exceeded' },
      { type: 'response.failed', response: { id: 'r', status: 'failed', error: null } },
    ])
    const { events, error } = await hearAll(responsesAdapter(), responseOf([body]))
    expect(error?.message).toBe('Slow down (rate_limit_exceeded)')
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(1)
  })

  test('of a whole answer without an output is an error', async () => {
    const { error } = await hearWhole({ id: 'r', status: 'completed' })
    expect(error).toMatchObject({ code: 'protocol', message: expect.stringContaining('no end') })
  })

  test('under an unknown name counts by its status', async () => {
    const { message: heard } = await hear(written(0, 0, 'Hi'), {
      type: 'done',
      response: { status: 'completed' },
    })
    expect(heard.stopReason).toBe('stop')
  })
})

test('names that every object has are nothing special', async () => {
  const names = ['constructor', '__proto__', 'toString']
  const events = names.flatMap((name, place) => [
    { type: name },
    { type: name, response: { status: name } },
    done(place, { type: name, id: name }),
  ])
  const odd = await hear(...events, done(names.length, message('m', 'Hi')), completed)
  const bare = await hearAll(
    responsesAdapter(),
    responseOf([sse([...names.map((type) => ({ type })), { type: 'response.completed', response: {} }])]),
  )
  expect(odd.message).toMatchObject({ stopReason: 'stop' })
  expect(odd.message.content).toHaveLength(4)
  expect(bare.message).toMatchObject({ content: [], stopReason: 'stop' })
})
