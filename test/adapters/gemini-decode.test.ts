import { describe, expect, test } from 'vitest'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { callsIn, hearAll, responseOf, textIn } from './answers.ts'
import { expectRight, parseFaults } from './parse-faults.ts'

const adapter = geminiAdapter()
const hear = (body: string, more: { status?: number; headers?: Record<string, string> } = {}) =>
  hearAll(adapter, responseOf([body], more))

/** A piece of a stream with one candidate. */
const piece = (parts: readonly object[], more: object = {}, finishReason?: unknown): string => {
  const candidate = { content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }
  return `data: ${JSON.stringify({ candidates: [{ ...candidate, ...more }], modelVersion: 'm' })}\n\n`
}

describe('faults reported against other adapters are not ours', () => {
  const ours = parseFaults('gemini')

  test('there are faults to test', () => expect(ours).toHaveLength(7))

  test.each(ours)('%s: %s', async (_id, _symptom, fault) => {
    await expectRight(adapter, fault)
  })
})

describe('how an answer ends', () => {
  test.each([
    ['STOP', undefined],
    [1, undefined],
    ['SAFETY', 'refusal'],
    [3, 'refusal'],
    ['RECITATION', 'refusal'],
    ['PROHIBITED_CONTENT', 'refusal'],
    ['IMAGE_SAFETY', 'refusal'],
    ['SPII', 'refusal'],
    ['MALFORMED_FUNCTION_CALL', 'server'],
    ['UNEXPECTED_TOOL_CALL', 'server'],
    ['MISSING_THOUGHT_SIGNATURE', 'invalid-request'],
    [5, 'server'],
    ['OTHER', 'server'],
    ['TOO_MANY_TOOL_CALLS', 'server'],
    ['NO_IMAGE', 'server'],
    ['constructor', 'server'],
  ])('%s is %s, and the text is kept', async (reason, code) => {
    const { message, error } = await hear(piece([{ text: 'Once' }], {}, reason))
    expect(textIn(message)).toBe('Once')
    expect(error?.code).toBe(code)
    if (error) expect(error.message).toContain(String(reason))
  })

  test('MAX_TOKENS is a matter of length', async () => {
    expect((await hear(piece([{ text: 'Onc' }], {}, 'MAX_TOKENS'))).message.stopReason).toBe('length')
  })

  test('a reason that nobody knows yet does not undo whole calls; without any, it is a failure', async () => {
    const called = await hear(piece([{ functionCall: { id: 'c', name: 'clock', args: {} } }], {}, 'NEW'))
    expect(called.message).toMatchObject({ stopReason: 'toolUse', content: [{ arguments: {} }] })
    const silent = await hear(piece([], {}, 'NEW'))
    expect(silent.error).toMatchObject({ code: 'server', message: 'the model stopped: NEW' })
  })

  test('what it says about the end of a failure is told', async () => {
    const more = { finishMessage: 'print(default_' }
    const { error } = await hear(piece([], more, 'MALFORMED_FUNCTION_CALL'))
    expect(error?.message).toBe('the model stopped: MALFORMED_FUNCTION_CALL: print(default_')
  })

  test('an unspecified reason is none', async () => {
    const { error } = await hear(piece([{ text: 'x' }], {}, 'FINISH_REASON_UNSPECIFIED'))
    expect(error?.code).toBe('network')
  })

  test('a blocked prompt is a refusal, in its words', async () => {
    const feedback = { blockReason: 'SAFETY', blockReasonMessage: 'No.' }
    const { error } = await hear(`data: ${JSON.stringify({ promptFeedback: feedback })}\n\n`)
    expect(error).toMatchObject({ code: 'refusal', message: 'the prompt was blocked: SAFETY: No.' })
  })
})

describe('proofs', () => {
  test('stay on the part they came with; one that comes after a text is the text’s', async () => {
    const body =
      piece([{ text: 'Hm.', thought: true }, { text: 'A' }]) +
      piece([{ text: 'B' }]) +
      piece([{ text: '', thoughtSignature: 'S1' }], {}, 'STOP')
    expect((await hear(body)).message.content).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'AB', signature: 'S1' },
    ])
  })

  test('two of them are two texts', async () => {
    const body = piece(
      [
        { text: 'A', thoughtSignature: 'S1' },
        { text: 'B', thoughtSignature: 'S2' },
      ],
      {},
      'STOP',
    )
    expect((await hear(body)).message.content).toEqual([
      { type: 'text', text: 'A', signature: 'S1' },
      { type: 'text', text: 'B', signature: 'S2' },
    ])
  })

  test('of nothing are kept as they came', async () => {
    const part = { thoughtSignature: 'S' }
    const { message } = await hear(piece([part, { ...part, text: '' }], {}, 'STOP'))
    expect(message.content).toEqual([
      { type: 'other', provider: 'google', raw: part },
      { type: 'other', provider: 'google', raw: { ...part, text: '' } },
    ])
  })

  test('of a picture are the picture’s', async () => {
    const inlineData = { mimeType: 'image/png', data: 'AA==' }
    const { message } = await hear(piece([{ inlineData, thoughtSignature: 'S' }], {}, 'STOP'))
    expect(message.content).toEqual([{ type: 'image', ...inlineData, signature: 'S' }])
  })
})

describe('calls', () => {
  const leaves = (...partialArgs: object[]) => piece([{ functionCall: { partialArgs, willContinue: true } }])
  const begin = piece([{ functionCall: { name: 'f', willContinue: true } }])
  const end = piece([{ functionCall: {} }], {}, 'STOP')

  test('without ids get one from their place, the same however often they are heard', async () => {
    const call = { functionCall: { name: 'f', args: { a: 1 } } }
    const ids = async () => callsIn((await hear(piece([call, call], {}, 'STOP'))).message).map(({ id }) => id)
    expect(await ids()).toEqual(['call_0', 'call_1'])
    expect(await ids()).toEqual(await ids())
  })

  test('come whole: an answer cut off after one does not cut it', async () => {
    const body = piece([{ functionCall: { name: 'f', args: { a: 1 } } }], {}, 'MAX_TOKENS')
    const { message } = await hear(body)
    expect(message.stopReason).toBe('length')
    expect(callsIn(message)).toEqual([{ type: 'toolCall', id: 'call_0', name: 'f', arguments: { a: 1 } }])
  })

  test('that come leaf by leaf are told as they grow', async () => {
    const body = [
      begin,
      leaves({ jsonPath: '$.a.list[0]', stringValue: 'x"', willContinue: true }),
      leaves({ jsonPath: '$.a.list[0]', stringValue: 'y' }),
      leaves(
        { jsonPath: '$.a.list[1].n', numberValue: 2 },
        { jsonPath: "$.a.list[1]['k.k']", boolValue: true },
      ),
      leaves({ jsonPath: '$.b', nullValue: 'NULL_VALUE' }, { jsonPath: '$.c[0][0]', stringValue: '' }),
      end,
    ].join('')
    const { message, events } = await hear(body)
    const [call] = callsIn(message)
    expect(call?.arguments).toEqual({ a: { list: ['x"y', { n: 2, 'k.k': true }] }, b: null, c: [['']] })
    const deltas = events.flatMap((event) =>
      event.type === 'toolCall' && event.phase === 'delta' ? [event.delta] : [],
    )
    expect(deltas[0]).toBe('{"a":{"list":["x\\"')
    expect(deltas.length).toBeGreaterThan(4)
  })

  test('that were cut off among their leaves keep what was written, and are not executable', async () => {
    const { message, error } = await hear(begin + leaves({ jsonPath: '$.path', stringValue: '/' }))
    expect(error?.code).toBe('network')
    expect(callsIn(message)).toEqual([
      { type: 'toolCall', id: 'call_0', name: 'f', rawArguments: '{"path":"/"' },
    ])
  })

  test('whose leaves stand nowhere have arguments that are invalid or harmless, never a crash', async () => {
    for (const jsonPath of ['', '$', '$.', 'x', '$[', '$.constructor.prototype.x', '$[99999999]', 7, null]) {
      const { message } = await hear(
        begin + leaves({ jsonPath, numberValue: 1 }) + leaves({ jsonPath: '$.k', numberValue: 1 }) + end,
      )
      expect(message.stopReason).toBe('toolUse')
      expect(Reflect.get({}, 'x')).toBeUndefined()
    }
  })

  test('without a name are none', async () => {
    const { message } = await hear(piece([{ functionCall: { args: { a: 1 } } }, { text: 'x' }], {}, 'STOP'))
    expect(message.content).toEqual([{ type: 'text', text: 'x' }])
  })
})

describe('what stands beside the parts', () => {
  test('sources come once each, at the end', async () => {
    const web = (uri: string, title?: string) => ({ web: { uri, title } })
    const groundingMetadata = { groundingChunks: [web('https://a.example', 'A'), web('https://a.example')] }
    const citationMetadata = { citations: [{ uri: 'https://b.example' }] }
    const { message } = await hear(
      piece([{ text: 'x' }], { groundingMetadata }) + piece([{ text: 'y' }], { citationMetadata }, 'STOP'),
    )
    expect(message.content).toEqual([
      { type: 'text', text: 'xy' },
      { type: 'source', url: 'https://a.example', title: 'A' },
      { type: 'source', url: 'https://b.example' },
    ])
  })

  test('a second candidate is not the answer', async () => {
    const body =
      piece([{ text: 'first' }], { index: 0 }, 'STOP') + piece([{ text: 'second' }], { index: 1 }, 'STOP')
    expect(textIn((await hear(body)).message)).toBe('first')
  })

  test('parts that nobody knows are kept as they came, empty ones are nothing', async () => {
    const audio = { inlineData: { mimeType: 'audio/wav', data: 'AA==' } }
    const { message } = await hear(piece([{}, { hologram: 1 }, audio], {}, 'STOP'))
    expect(message.content.map((block) => block.type === 'other' && block.raw)).toEqual([
      { hologram: 1 },
      audio,
    ])
  })

  test('usage without counts does not undo the counts before it', async () => {
    const usage = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
    const body = [{ usageMetadata: usage }, { usageMetadata: {} }, { candidates: [{ finishReason: 'STOP' }] }]
    const { message } = await hear(body.map((part) => `data: ${JSON.stringify(part)}\n\n`).join(''))
    expect(message.usage).toMatchObject({ input: 3, output: 2, total: 5 })
  })
})
