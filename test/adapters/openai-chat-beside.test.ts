import { describe, expect, test } from 'vitest'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { hearAll, responseOf, textIn } from './answers.ts'

const piece = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [], ...fields })}\n\n`
const said = (delta: object, more: object = {}): string => piece({ choices: [{ index: 0, delta, ...more }] })
const hear = (...pieces: string[]) => hearAll(chatAdapter(), responseOf(pieces))
const hearWhole = (message: object) =>
  hearAll(
    chatAdapter(),
    responseOf([JSON.stringify({ id: 'c', choices: [{ message, finish_reason: 'stop' }] })]),
  )
const end = said({}, { finish_reason: 'stop' })
const kept = async (heard: ReturnType<typeof hear>) => {
  const { message } = await heard
  return message.content.flatMap((block) => (block.type === 'other' ? [block.raw] : []))
}

describe('what stands beside the text of an answer is kept as one', () => {
  const sound = { type: 'audio', id: 'a', data: 'AAAABBBB', transcript: 'Hi you', expires_at: 9 }
  const pieces = [
    said({ role: 'assistant', content: null, audio: { id: 'a', transcript: 'Hi' } }),
    said({ audio: { id: 'a', data: 'AAAA' } }),
    said({ audio: { id: 'a', data: 'BBBB', transcript: ' you' } }),
    said({ audio: { id: 'a', expires_at: 9 } }),
  ]

  test('sound, in pieces or whole', async () => {
    expect(await kept(hear(...pieces, end))).toEqual([sound])
    expect(await kept(hearWhole({ content: null, audio: sound }))).toEqual([sound])
  })

  test('sound that was cut off, as far as it came', async () => {
    const { message } = await hear(...pieces.slice(0, 2))
    expect(message.stopReason).toBe('error')
    expect(message.content).toMatchObject([{ type: 'other', raw: { data: 'AAAA', transcript: 'Hi' } }])
  })

  test.each([null, {}, { id: '', data: '', transcript: null }])('no sound is none: %j', async (audio) => {
    expect(await kept(hear(said({ content: 'Hi', audio }), end))).toEqual([])
    expect(await kept(hearWhole({ content: 'Hi', audio }))).toEqual([])
  })

  test("calls that the provider's server made, with what came of them", async () => {
    const tools = [
      { index: 0, type: 'search', arguments: '{"query":"x"}', output: 'found' },
      { index: 1, type: 'python', arguments: '{"code":"1"}' },
    ]
    const { output: _, ...begun } = tools[0] ?? {}
    const streamed = hear(
      said({ executed_tools: [begun] }),
      said({ reasoning: 'hm' }),
      said({ executed_tools: tools }),
      said({ content: 'Yes.' }),
      end,
    )
    expect(await kept(streamed)).toEqual(tools)
    expect((await streamed).message).toMatchObject({ stopReason: 'stop' })
    expect(textIn((await streamed).message)).toBe('Yes.')
    expect(await kept(hearWhole({ content: 'Yes.', executed_tools: tools }))).toEqual(tools)
  })

  test('more of it than an answer may have is refused', async () => {
    const many = Array.from({ length: 40 }, () => said({ audio: { data: '0123456789' } }))
    const { error } = await hearAll(chatAdapter({ limits: { answer: 200 } }), responseOf(many))
    expect(error?.code).toBe('protocol')
  })
})

describe('counts', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

  test.each([
    ['at the top', piece({ usage })],
    ['with the last piece of an answer, as Moonshot has them', said({}, { finish_reason: 'stop', usage })],
    ['in a field of its own, as Groq had them', piece({ x_groq: { id: 'r', usage } })],
  ])('are found %s', async (_, last) => {
    const { message } = await hear(said({ content: 'Hi' }), end, last)
    expect(message.usage).toMatchObject({ input: 3, output: 4, total: 7 })
  })
})

test("thinking is found among the parts, as Databricks has a model's", async () => {
  const content = [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm', signature: 'SIG' }] },
    { type: 'text', text: 'Yes.' },
  ]
  const blocks = [
    { type: 'thinking', text: 'hm', signature: 'SIG' },
    { type: 'text', text: 'Yes.' },
  ]
  expect((await hearWhole({ content })).message.content).toEqual(blocks)
  const pieces = content.map((part) => said({ content: [part] }))
  expect((await hear(...pieces, end)).message.content).toEqual(blocks)
})

test.each(['PROHIBITED_CONTENT', 'recitation', 'BLOCKLIST', 'SPII', 'content_filter: RECITATION'])(
  'a model that stopped for %s has refused',
  async (finish) => {
    expect((await hear(said({ content: 'a' }), said({}, { finish_reason: finish }))).error?.code).toBe(
      'refusal',
    )
  },
)
