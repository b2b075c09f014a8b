import { describe, expect, test } from 'vitest'
import type { Message } from '../../../src/message/schema.ts'
import { deepFreeze, systemMessage, toolMessage, userMessage } from '../../support/messages.ts'
import { recorded, SOURCES, type Source } from './sources.ts'
import { TARGETS } from './targets.ts'
import type { Piece } from './wire.ts'

const text = (value: string): Piece => ({ type: 'text', text: value })
const picture = (data: string) => ({ type: 'image' as const, mimeType: 'image/png', data })
const call = (id: string, name: string, args: string): Piece => ({ type: 'call', id, name, args })
/** As awkward as providers give them: with signs that others refuse, too long, and the same again in each turn. */
const IDS = ['functions.weather:0', `call_|${'x'.repeat(60)}`, 'call_0', 'ünïcode']

const [USER_PICTURE, RESULT_PICTURE, DRAWN_PICTURE] = ['VVNFUg==', 'UkVTVUxU', 'RFJBV04=']
const THOUGHTS = ['thought-1 想一想 🤔', 'thought-2', 'thought-3 half']
const PROOFS = ['proof-1', 'proof-2', 'proof-3']
const [thinking1, thinking2, thinking3] = THOUGHTS.map((value, i): Piece => {
  return { type: 'thinking', text: value, proof: PROOFS[i] ?? '' }
})

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

/** A history in which everything happens that may, answered by one source. */
async function historyOf(source: Source): Promise<Message[]> {
  const answers = await Promise.all([
    recorded(source, 0, [
      ...(thinking1 ? [thinking1] : []),
      text('Ich schaue nach. 🙂'),
      call(IDS[0] ?? '', 'weather', '{"q":"北京"}'),
      call(IDS[1] ?? '', 'snapshot', '{"q":"👋 second"}'),
    ]),
    recorded(source, 1, [
      ...(thinking2 ? [thinking2] : []),
      { type: 'server' },
      text('结果在此 ✅'),
      { type: 'picture', data: DRAWN_PICTURE },
      call(IDS[2] ?? '', 'weather', '{"q":"third"}'),
    ]),
    recorded(source, 2, [call(IDS[2] ?? '', 'weather', '{"q": unreadable')]),
    recorded(source, 3, [{ type: 'hidden', proof: 'proof-hidden' }, text('Done 🎉')]),
    recorded(
      source,
      4,
      [...(thinking3 ? [thinking3] : []), text('Half an ans'), call('cut', 'weather', '{"q":"never"}')],
      true,
    ),
  ])
  const idOf = (answer: number, at: number): string => {
    const calls = answers[answer]?.content.filter(({ type }) => type === 'toolCall')
    const found = calls?.[at]
    return found?.type === 'toolCall' ? found.id : `no call ${answer}.${at}`
  }
  const [first, second, third, fourth, stopped] = answers
  if (!first || !second || !third || !fourth || !stopped) throw new Error('there are five answers')
  return [
    userMessage('u0', '', { content: [{ type: 'text', text: SAID[0] ?? '' }, picture(USER_PICTURE)] }),
    first,
    // In the order in which they came, which is not that of the calls.
    toolMessage('t1', idOf(0, 1), {
      toolName: 'snapshot',
      content: [{ type: 'text', text: 'the second result 結果' }, picture(RESULT_PICTURE)],
    }),
    toolMessage('t0', idOf(0, 0), { content: [{ type: 'text', text: 'the first failed' }], isError: true }),
    second,
    toolMessage('t2', idOf(1, 0), { content: [] }),
    third,
    toolMessage('t3', idOf(2, 0), { content: [{ type: 'text', text: 'cannot be read' }], isError: true }),
    fourth,
    userMessage('u1', 'What else?'),
    stopped,
    systemMessage('s', 'Now in French.'),
    userMessage('u2', '最后的问题 ❓'),
  ]
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
  // Of an answer with a picture, the items cannot go back as they were; without, their thinking cannot.
  'openai-responses > openai-responses: gpt-5': ['thought-1', 'proof-1', 'proof-hidden'],
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
    const { defects, said } = await sent()
    expect(defects).toEqual([])
    expect(placesOf(SAID, said).filter((place) => place < 0)).toEqual([])
    for (const chain of [SAID, SECOND_CALL]) {
      const places = placesOf(chain, said)
      expect(places).toEqual(ascending(places))
    }
    expect(placesOf([USER_PICTURE, RESULT_PICTURE], said).filter((place) => place < 0)).toEqual([])
  })

  test('has a picture that the model drew, or says that there was one', async () => {
    const drew = history.some(({ content }) =>
      content.some((block) => block.type === 'image' && block.data === DRAWN_PICTURE),
    )
    const { said } = await sent()
    expect(/RFJBV04=|not shown/.test(said)).toBe(drew)
  })

  test('has the thinking of the target, and of nobody else', async () => {
    const { said } = await sent()
    const own = [...new Set(said.match(/(thought|(?<!call-)proof)-(\d|hidden)/g))].sort()
    expect(own).toEqual([...(OWN[`${from} > ${to}`] ?? [])].sort())
    expect(/call-proof/.test(said)).toBe(from === 'gemini' && to.startsWith('gemini'))
  })
})
