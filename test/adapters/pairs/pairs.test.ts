import { describe, expect, test } from 'vitest'
import type { Message, ToolBlock } from '../../../src/message/schema.ts'
import { deepFreeze, systemMessage, toolMessage, userMessage } from '../../support/messages.ts'
import { recorded, SOURCES, type Source } from './sources.ts'
import { TARGETS } from './targets.ts'
import type { Piece } from './wire.ts'

const text = (value: string) => ({ type: 'text' as const, text: value })
const picture = (data: string) => ({ type: 'image' as const, mimeType: 'image/png', data })
const [USER_PICTURE, RESULT_PICTURE, DRAWN_PICTURE] = ['VVNFUg==', 'UkVTVUxU', 'RFJBV04=']

/** What has to be said to every target, in this order. */
const SAID = [
  '请看这张图 👩‍👩‍👧 한국어',
  'Ich schaue nach. 🙂',
  '北京',
  'the first failed',
  'the second result 結果',
  '结果在此 ✅',
  'third',
  'unreadable',
  'cannot be read',
  'Done 🎉',
  'What else?',
  'Half an ans',
  'Now in French.',
  '最后的问题 ❓',
]

/** Where calls and their results follow each other one by one, the second call comes after the first result. */
const SECOND_CALL = ['Ich schaue nach. 🙂', '👋 second', 'the second result 結果']

const said = (value: string): Piece => ({ type: 'text', text: value })
const called = (id: string, name: string, args: string): Piece => ({ type: 'call', id, name, args })
/** Ids as awkward as providers give them: with signs that others refuse, too long, and the same again in each turn. */
const ANSWERS: readonly (readonly Piece[])[] = [
  [
    { type: 'thinking', text: 'thought-1 想一想 🤔', proof: 'proof-1' },
    said('Ich schaue nach. 🙂'),
    called('functions.weather:0', 'weather', '{"q":"北京"}'),
    called(`call_|${'x'.repeat(60)}`, 'snapshot', '{"q":"👋 second"}'),
  ],
  [
    { type: 'thinking', text: 'thought-2', proof: 'proof-2' },
    { type: 'server' },
    said('结果在此 ✅'),
    { type: 'picture', data: DRAWN_PICTURE },
    called('call_0', 'weather', '{"q":"third"}'),
  ],
  [called('call_0', 'weather', '{"q": unreadable')],
  [{ type: 'hidden', proof: 'proof-hidden' }, said('Done 🎉')],
  [
    { type: 'thinking', text: 'thought-3', proof: 'proof-3' },
    said('Half an ans'),
    called('cut', 'weather', '{"q":"never"}'),
  ],
]

/** A history in which everything happens that may, answered by one source, whose last answer was stopped. */
async function historyOf(source: Source): Promise<Message[]> {
  const answers = await Promise.all(ANSWERS.map((pieces, n) => recorded(source, n, pieces, n === 4)))
  const result = (answer: number, at: number, content: ToolBlock[], isError = false): Message => {
    const call = answers[answer]?.content.filter(({ type }) => type === 'toolCall')[at]
    if (call?.type !== 'toolCall') throw new Error(`there is no call ${at} in answer ${answer}`)
    return toolMessage(`t${answer}-${at}`, call.id, { toolName: call.name, content, isError })
  }
  const results = [
    // In the order in which they came, which is not that of the calls.
    [
      result(0, 1, [text('the second result 結果'), picture(RESULT_PICTURE)]),
      result(0, 0, [text('the first failed')], true),
    ],
    [result(1, 0, [])],
    [result(2, 0, [text('cannot be read')], true)],
    [userMessage('u1', 'What else?')],
    [systemMessage('s', 'Now in French.'), userMessage('u2', '最后的问题 ❓')],
  ]
  const question = userMessage('u0', '', { content: [text(SAID[0] ?? ''), picture(USER_PICTURE)] })
  return [question, ...answers.flatMap((answer, n) => [answer, ...(results[n] ?? [])])]
}

const PAIRS = Object.keys(SOURCES).flatMap((from) =>
  Object.entries(TARGETS).map(([to, target]) => [from, to, target] as const),
)

/** What goes back to who thought it: which of the thoughts and proofs, by the pair. To anybody else, nothing does. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  'openai-chat of DeepSeek > openai-chat: DeepSeek': ['thought-1', 'thought-2'],
  'openai-chat of OpenRouter > openai-chat: OpenRouter': [
    'thought-1',
    'proof-1',
    'thought-2',
    'proof-2',
    'proof-hidden',
  ],
  'openai-responses > openai-responses: gpt-5': [
    'thought-1',
    'proof-1',
    'thought-2',
    'proof-2',
    'proof-hidden',
  ],
  'openai-responses of OpenRouter > openai-responses: OpenRouter': [
    'thought-1',
    'proof-1',
    'thought-2',
    'proof-2',
    'proof-hidden',
  ],
  'anthropic > anthropic: claude-3-5-haiku': ['thought-1', 'proof-1', 'thought-2', 'proof-2', 'proof-hidden'],
  'anthropic > anthropic: claude-sonnet-4-5': [
    'thought-1',
    'proof-1',
    'thought-2',
    'proof-2',
    'proof-hidden',
  ],
  'anthropic > anthropic: claude-opus-4-8': ['thought-1', 'proof-1', 'thought-2', 'proof-2', 'proof-hidden'],
  'gemini > gemini: 2.5': ['thought-1', 'proof-1', 'thought-2', 'proof-2', 'proof-hidden'],
  'gemini > gemini: 3': ['thought-1', 'proof-1', 'thought-2', 'proof-2', 'proof-hidden'],
  'interactions > interactions: 2.5': ['thought-1', 'proof-1', 'thought-2', 'proof-2', 'proof-hidden'],
  'interactions > interactions: 3': ['thought-1', 'proof-1', 'thought-2', 'proof-2', 'proof-hidden'],
  'ollama > ollama': ['thought-1', 'thought-2'],
}

const placesOf = (phrases: readonly string[], said: string): number[] =>
  phrases.map((phrase) => said.lastIndexOf(JSON.stringify(phrase).slice(1, -1)))
const ascending = (places: readonly number[]) => [...places].sort((a, b) => a - b)

/** Each source's history, once, and frozen: whoever writes to it would throw. */
const HISTORIES = new Map(
  await Promise.all(
    Object.entries(SOURCES).map(
      async ([from, source]) => [from, deepFreeze(await historyOf(source))] as const,
    ),
  ),
)

describe.each(PAIRS)('what %s wrote, said to %s,', (from, to, target) => {
  const history = HISTORIES.get(from) ?? []
  const sent = async () => target.send(history)

  test('is taken, and all of it is there, in its order', async () => {
    const { defects, said: all } = await sent()
    expect(defects).toEqual([])
    expect(placesOf(SAID, all).filter((place) => place < 0)).toEqual([])
    for (const chain of [SAID, SECOND_CALL]) {
      const places = placesOf(chain, all)
      expect(places).toEqual(ascending(places))
    }
    expect(placesOf([USER_PICTURE, RESULT_PICTURE], all).filter((place) => place < 0)).toEqual([])
  })

  test('has a picture that the model drew, or says that there was one', async () => {
    const isStored = history.some(({ content }) =>
      content.some((block) => block.type === 'image' && block.data === DRAWN_PICTURE),
    )
    // Anthropic's and Ollama's models draw none.
    const drew = !/anthropic|ollama/.test(from)
    const { said: all } = await sent()
    expect([isStored, /RFJBV04=|not shown/.test(all)]).toEqual([drew, drew])
  })

  test('has the thinking of the target, and of nobody else', async () => {
    const { said: all } = await sent()
    const own = [...new Set(all.match(/(thought|(?<!call-)proof)-(\d|hidden)/g))].sort()
    expect(own).toEqual([...(OWN[`${from} > ${to}`] ?? [])].sort())
    expect(/call-proof/.test(all)).toBe(from === 'gemini' && to.startsWith('gemini'))
  })
})
