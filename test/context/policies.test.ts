import { describe, expect, test } from 'vitest'
import { assembleContext } from '../../src/context/assemble.ts'
import { clipBlocks } from '../../src/context/clip.ts'
import { compactResults, squeezeNewest } from '../../src/context/compact.ts'
import type { Policy } from '../../src/context/draft.ts'
import { dropOldest, dropOldestTurns, slidingWindow, tokenBudget } from '../../src/context/policies.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import {
  assistantMessage,
  callingMessage,
  deepFreeze,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { exact, ids, sent, turn, why } from './sent.ts'

const fiveTurns = [...turn(1), ...turn(2), ...turn(3), ...turn(4), userMessage('u5', 'q'.repeat(9))]
const by = (messages: Message[], policies: Policy[], window?: number) =>
  sent(deepFreeze(messages), {
    estimate: exact,
    policies,
    ...(window !== undefined && { window, reserve: 0 }),
  })

/** A turn with a call and its result. */
const working = (n: number, result: string, isError = false): Message[] => [
  userMessage(`u${n}`, `question ${n}`),
  callingMessage(`s${n}`, [`c${n}`]),
  toolMessage(`t${n}`, `c${n}`, { content: [{ type: 'text', text: result }], isError }),
  assistantMessage(`a${n}`, `answer ${n}`),
]
const result = (context: { messages: readonly Message[] }, id: string): string =>
  textOf(context.messages.find((message) => message.id === id) ?? { content: [] })

describe('a sliding window', () => {
  test('keeps so many turns, and tells why the others are out', () => {
    const context = by(fiveTurns, [slidingWindow(2)])
    expect(ids(context)).toBe('u4 a4 u5')
    expect(why(context)).toBe('u1 window, a1 window, u2 window, a2 window, u3 window, a3 window')
    expect(context.policies).toEqual(['slidingWindow'])
  })

  test('always holds the newest turn, and is not named where it dropped nothing', () => {
    expect(ids(by(fiveTurns, [slidingWindow(0)]))).toBe('u5')
    expect(by(fiveTurns, [slidingWindow(9)]).policies).toEqual([])
  })
})

describe('what does not fit', () => {
  test('goes by whole turns, as the rest of what is assembled', () => {
    expect(ids(by(fiveTurns, [dropOldestTurns()], 35))).toBe('u4 a4 u5')
    expect(ids(by(fiveTurns, [], 45))).toBe('u4 a4 u5')
  })

  test('goes message by message, where that is asked for', () => {
    expect(ids(by(fiveTurns, [dropOldest()], 45))).toBe('a3 u4 a4 u5')
  })

  test('takes the results of a call along', () => {
    const messages = [...working(1, 'r'.repeat(20)), ...turn(2)]
    expect(ids(by(messages, [dropOldest()], 30))).toBe('a1 u2 a2')
    expect(ids(by(messages, [dropOldest()], 51))).toBe('s1 t1 a1 u2 a2')
  })

  test('may be held to less than the window', () => {
    const context = by(fiveTurns, [tokenBudget(35)], 1_000)
    expect(ids(context)).toBe('u4 a4 u5')
    expect(context).toMatchObject({ tokens: 30, before: 90, policies: ['tokenBudget'] })
    expect(ids(by(fiveTurns, [tokenBudget(1)], 1_000))).toBe('u5')
  })
})

describe('old results', () => {
  const long = JSON.stringify({
    ok: true,
    data: {
      code: 'QX7',
      total: 12,
      note: 'n'.repeat(300),
      offers: Array.from({ length: 20 }, (_, at) => ({ at })),
    },
  })
  const stack = `Error: no such day\n${'    at f (x.js:1)\n'.repeat(30)}`
  const messages = [...working(1, long), ...working(2, stack, true), ...working(3, long), userMessage('u4')]

  test('give way to their conclusion: facts stay, lists are counted', () => {
    const context = by(messages, [compactResults({ turns: 2, errors: 9 })])
    expect(result(context, 't1')).toMatch(
      /^\[shortened\] \{"ok":true,"data":\{"code":"QX7","total":12,.*20 items/,
    )
    expect(result(context, 't1').length).toBeLessThan(320)
    expect(result(context, 't3')).toBe(long)
    expect(context.included.find(({ id }) => id === 't1')).toMatchObject({ changes: ['compacted'] })
  })

  test('of errors stay whole for some turns, and then as a line', () => {
    expect(result(by(messages, [compactResults({ turns: 9, errors: 3 })]), 't2')).toBe(stack)
    const line = by(messages, [compactResults({ turns: 9, errors: 2 })])
    expect(result(line, 't2')).toBe('[failed] Error: no such day')
    const json = JSON.stringify({ ok: false, error: { message: `no such day\n${'x'.repeat(99)}` } })
    const told = by([...working(1, json, true), userMessage('u2')], [compactResults({ errors: 1 })])
    expect(result(told, 't1')).toBe('[failed] no such day')
  })

  test('are left alone where they are short, or an own conclusion is not shorter', () => {
    const short = by([...working(1, '{"ok":true}'), userMessage('u2')], [compactResults({ turns: 1 })])
    expect(short.policies).toEqual([])
    const own = by(messages, [compactResults({ turns: 2, errors: 9, conclude: () => long + long })])
    expect(result(own, 't1')).toBe(long)
  })

  test('are as they were in the history: the message given is not touched, and its copy is made once', () => {
    const policy = compactResults({ turns: 1, errors: 1 })
    const [first, second] = [by(messages, [policy]), by(messages, [policy])]
    expect(first.messages[2]).not.toBe(messages[2])
    expect(second.messages[2]).toBe(first.messages[2])
    expect(textOf(messages[2] ?? { content: [] })).toBe(long)
  })
})

describe('a turn of many steps that is too long by itself', () => {
  const steps = (length: number) => [
    userMessage('u1', 'go'),
    ...[1, 2, 3].flatMap((n) => [
      callingMessage(`s${n}`, [`c${n}`]),
      toolMessage(`t${n}`, `c${n}`, { content: [{ type: 'text', text: `${n} `.repeat(length / 2) }] }),
    ]),
  ]

  test('keeps its last results whole as long as shortening the earlier ones is enough', () => {
    const context = by(steps(1_000), [squeezeNewest()], 1_700)
    expect(result(context, 't3')).toHaveLength(1_000)
    expect(result(context, 't1')).toContain('[shortened]')
    expect(context.tokens).toBeLessThanOrEqual(1_700)
  })

  test('is cut at the end, too, where that is not enough; else the call is refused', () => {
    const context = by(steps(1_000), [squeezeNewest()], 900)
    expect(result(context, 't3')).toContain('characters left out')
    expect(context.tokens).toBeLessThanOrEqual(900)
    expect(() =>
      assembleContext({ messages: steps(1_000), estimate: exact, window: 900, reserve: 0 }),
    ).toThrow('room for 900')
    expect(by(steps(10), [squeezeNewest()], 900).policies).toEqual([])
  })
})

test('one result that is too large is cut in its middle, wherever it stands', () => {
  const text = Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\n')
  const messages = [...working(1, 'short'), userMessage('u2'), ...working(3, text).slice(1)]
  const context = by(messages, [clipBlocks({ results: 400 })])
  const cut = result(context, 't3')
  expect(cut.length).toBeLessThanOrEqual(400)
  expect(cut.startsWith('line 0\nline 1\n')).toBe(true)
  expect(cut).toMatch(/\[… \d+ characters left out …\]/)
  expect(cut.endsWith('\nline 199')).toBe(true)
  expect(result(context, 't1')).toBe('short')
  expect(context.included.find(({ id }) => id === 't3')?.changes).toEqual(['clipped'])
})

test('other messages are cut only by option, and never those of the newest turn', () => {
  const messages = [
    userMessage('u1', 'w '.repeat(500)),
    assistantMessage('a1'),
    userMessage('u2', 'w '.repeat(500)),
  ]
  expect(by(messages, [clipBlocks()]).policies).toEqual([])
  const context = by(messages, [clipBlocks({ others: 200 })])
  expect(result(context, 'u1').length).toBeLessThanOrEqual(200)
  expect(result(context, 'u2')).toHaveLength(1_000)
})
