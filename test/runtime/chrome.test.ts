import { afterEach, describe, expect, test, vi } from 'vitest'
import type { CallOptions, ModelContext, ModelEvent } from '../../src/adapters/contract.ts'
import { type ChromeModelOptions, chromeAvailability, chromeModel } from '../../src/chrome.ts'
import {
  assistantMessage,
  callingMessage,
  systemMessage,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { type FakeOptions, fakeLanguageModel } from './fake-language-model.ts'

const hi: ModelContext = { messages: [userMessage('u', 'Hi there')] }
const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const

type Call = CallOptions & { signal?: AbortSignal }

/** What becomes of a call, and what the browser saw of it. */
async function call(
  fake: FakeOptions,
  context: ModelContext = hi,
  options: Call = {},
  more: ChromeModelOptions = {},
) {
  const languageModel = fakeLanguageModel(fake)
  const events: ModelEvent[] = []
  for await (const event of chromeModel({ ...more, languageModel }).stream(context, options))
    events.push(event)
  const last = events.at(-1)
  if (last?.type !== 'done' && last?.type !== 'error') throw new Error(`the last event is ${last?.type}`)
  expect(languageModel.alive()).toBe(0)
  const error = last.type === 'error' ? last.error : undefined
  return { events, message: last.message, error, languageModel }
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('the browser’s model', () => {
  test('answers piece by piece, by the name of the browser', async () => {
    const { events, message } = await call({ answer: ['Hel', 'lo ', 'you'] })
    expect(events.map((event) => (event.type === 'text' ? event.delta : event.type))).toEqual([
      'start',
      'Hel',
      'lo ',
      'you',
      'usage',
      'done',
    ])
    expect(message).toMatchObject({
      provider: 'chrome',
      model: 'built-in',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello you' }],
    })
  })

  test.each(['context', 'input'] as const)('counts by its %s names', async (names) => {
    const context = { system: 'Be brief.', messages: [userMessage('u', 'Hi there')] }
    const { message } = await call({ names, answer: ['one two three'] }, context)
    expect(message.usage).toEqual({ input: 4, output: 3, cacheRead: 0, cacheWrite: 0, total: 7 })
  })

  test('of which the counts are not known has no usage', async () => {
    expect((await call({ names: 'none' })).message).not.toHaveProperty('usage')
  })

  test('gets the history when its session is made, so that no part of it is dropped in silence', async () => {
    const messages = [
      userMessage('1', 'a'),
      assistantMessage('2', 'b'),
      systemMessage('3', 'Be kind.'),
      callingMessage('4', ['c']),
      toolMessage('5', 'c', { content: [{ type: 'text', text: 'noon' }] }),
      assistantMessage('6', 'It is noon.'),
      userMessage('7', 'half \ud83d'),
    ]
    const { languageModel } = await call({}, { system: 'Be brief.', messages })
    expect(languageModel.created[0]?.initialPrompts).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: '<system>\nBe kind.\n</system>' },
      { role: 'user', content: 'Result of clock({}):\n\nnoon' },
      { role: 'assistant', content: 'It is noon.' },
    ])
    expect(languageModel.asked[0]?.input).toEqual([{ role: 'user', content: 'half \ufffd' }])
  })

  test('is asked to go on where the last word was its own', async () => {
    const { languageModel } = await call(
      {},
      { messages: [userMessage('1', 'a'), assistantMessage('2', 'b')] },
    )
    expect(languageModel.asked[0]?.input).toEqual([{ role: 'user', content: 'Continue.' }])
  })

  test('is held to a schema, and told what only it knows', async () => {
    const schema = { type: 'object' }
    const extra = { omitResponseConstraintInput: true }
    const { languageModel } = await call({}, hi, { output: { schema }, extra })
    expect(languageModel.asked[0]?.options).toMatchObject({ responseConstraint: schema, ...extra })
  })

  test('is made with the options of its sessions, and says how far its download is', async () => {
    const loaded: number[] = []
    const create = { expectedOutputs: [{ type: 'text', languages: ['en'] }], samplingMode: 'predictable' }
    const onDownload = (share: number) => loaded.push(share)
    const { languageModel } = await call({ availability: 'downloadable' }, hi, {}, { create, onDownload })
    expect(languageModel.created[0]).toMatchObject(create)
    expect(loaded).toEqual([0, 1])
  })

  test('thinks aloud where it was made to', async () => {
    const answer = [
      { type: 'thought', value: 'Hm.' },
      { type: 'text', value: 'Yes' },
      '.',
      { type: 'tool-call' },
    ]
    expect((await call({ answer })).message.content).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ])
  })
})

describe('pictures', () => {
  const context = { messages: [userMessage('1', '', { content: [{ type: 'text', text: 'Look' }, image] })] }

  test('go as bytes where the model sees', async () => {
    const create = { expectedInputs: [{ type: 'text', languages: ['en'] }] }
    const { languageModel } = await call({ inputs: ['image'] }, context, {}, { create })
    expect(languageModel.created[0]?.expectedInputs).toEqual([...create.expectedInputs, { type: 'image' }])
    const content = languageModel.asked[0]?.input[0]?.content
    const [, part] = typeof content === 'string' ? [] : (content ?? [])
    const blob = part?.value instanceof Blob ? part.value : new Blob()
    expect(blob.type).toBe('image/png')
    expect([...new Uint8Array(await blob.arrayBuffer())].slice(0, 4)).toEqual([0x89, 0x50, 0x4e, 0x47])
  })

  test('are named where it does not', async () => {
    const { languageModel, message } = await call({}, context)
    expect(message.stopReason).toBe('stop')
    expect(languageModel.created[0]).not.toHaveProperty('expectedInputs')
    expect(languageModel.asked[0]?.input).toEqual([
      { role: 'user', content: 'Look\n\n[image image/png not shown]' },
    ])
  })

  test('that are none are refused', async () => {
    const broken = { messages: [userMessage('1', '', { content: [{ ...image, data: '*' }] })] }
    expect((await call({ inputs: ['image'] }, broken)).error?.code).toBe('invalid-request')
  })
})

describe('a failure', () => {
  test('of a browser that has no model is said to be so', async () => {
    vi.stubGlobal('LanguageModel', undefined)
    const events: ModelEvent[] = []
    for await (const event of chromeModel().stream(hi)) events.push(event)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      type: 'error',
      error: { code: 'not-found', provider: 'chrome', message: expect.stringContaining('no LanguageModel') },
      message: { stopReason: 'error', content: [] },
    })
    expect(await chromeAvailability()).toBe('unavailable')
  })

  test('of a device that cannot run it is one too, before anything is made', async () => {
    const { error, languageModel } = await call({ availability: 'unavailable' })
    expect(error).toMatchObject({ code: 'not-found', message: expect.stringContaining('unavailable') })
    expect(languageModel.created).toEqual([])
  })

  test('for want of a click is one of permission', async () => {
    const { error } = await call({ availability: 'downloadable', activated: false })
    expect(error).toMatchObject({ code: 'auth', message: 'NotAllowedError: Requires a user gesture.' })
  })

  test('of a history that does not fit says by how much', async () => {
    const messages = [
      userMessage('1', 'word '.repeat(150)),
      assistantMessage('2', 'b'),
      userMessage('3', 'c'),
    ]
    const { error } = await call({}, { messages })
    expect(error).toMatchObject({ code: 'context-overflow', tokens: { needed: 151, available: 100 } })
  })

  test('of a question that does not fit beside the history, likewise', async () => {
    const messages = [
      userMessage('1', 'word '.repeat(60)),
      assistantMessage('2', 'b'),
      userMessage('3', 'c '.repeat(60)),
    ]
    const { error } = await call({}, { messages })
    expect(error).toMatchObject({ code: 'context-overflow', tokens: { needed: 60, available: 39 } })
  })

  test.each([
    ['NotSupportedError', 'invalid-request'],
    ['NotReadableError', 'refusal'],
    ['InvalidStateError', 'server'],
    ['UnknownError', 'server'],
    ['NetworkError', 'network'],
  ])('in mid-answer by %s is %s, with the text kept', async (name, code) => {
    const { error, message } = await call({ answer: ['Hal', new DOMException('no', name)] })
    expect(error).toMatchObject({ code, message: `${name}: no` })
    expect(message).toMatchObject({ stopReason: 'error', content: [{ type: 'text', text: 'Hal' }] })
  })

  test('comes from a demand for a call: it makes none', async () => {
    const { error } = await call({}, hi, { toolChoice: 'required' })
    expect(error).toMatchObject({ code: 'invalid-request' })
  })

  test('without words is one all the same', async () => {
    const thrown = Object.assign(new Error(), { name: 'constructor' })
    expect((await call({ answer: [thrown] })).error?.code).toBe('server')
  })
})

test('availability is asked with the options that a session would be made with', async () => {
  const create = { expectedInputs: [{ type: 'image' }] }
  const languageModel = fakeLanguageModel({ availability: 'downloadable' })
  expect(await chromeAvailability({ languageModel })).toBe('downloadable')
  expect(await chromeAvailability({ languageModel, create })).toBe('unavailable')
})
