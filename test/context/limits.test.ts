import { describe, expect, test } from 'vitest'
import { assembleContext } from '../../src/context/assemble.ts'
import { clipBlocks } from '../../src/context/clip.ts'
import { compactResults, squeezeNewest } from '../../src/context/compact.ts'
import { createEstimator } from '../../src/context/estimate.ts'
import { createLargeEstimator } from '../../src/context/large-estimate.ts'
import { recommendedMix } from '../../src/context/mix.ts'
import { nationalIds } from '../../src/context/national-ids.ts'
import { pins } from '../../src/context/notes.ts'
import type { AssembleOptions } from '../../src/context/open-draft.ts'
import { slidingWindow, tokenBudget } from '../../src/context/policies.ts'
import { createRedaction } from '../../src/context/redact.ts'
import { roughly } from '../../src/context/rough.ts'
import { emails, type Finder } from '../../src/context/secrets.ts'
import { summarised } from '../../src/context/summary.ts'
import { logger } from '../../src/telemetry/logger.ts'
import {
  assistantMessage,
  callingMessage,
  systemMessage,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { exact, ids, sent, threeTurns, turn, why } from './sent.ts'

describe('a limit that is none', () => {
  test.each<[string, AssembleOptions | object]>([
    ['window less the reserve: expected a number of at least 1, got NaN', { window: Number.NaN }],
    ['window less the reserve: expected a number of at least 1, got 0', { window: 0 }],
    ['window less the reserve: expected a number of at least 1, got -3', { window: -5 }],
    ['window less the reserve: expected a number of at least 1, got 0', { window: 100, reserve: 100 }],
    [
      'window less the reserve: expected a number of at least 1, got NaN',
      { window: 100, reserve: Number.NaN },
    ],
    ['reserve: expected a number of at least 0, got -1', { window: 100, reserve: -1 }],
    ['room: expected a number of at least 0, got NaN', { room: Number.NaN }],
  ])('is refused by its name: %s', (message, options) => {
    const refused = { code: 'invalid-request', message }
    expect(() => assembleContext({ messages: threeTurns, ...options })).toThrow(
      expect.objectContaining(refused),
    )
  })

  test.each<[string, () => unknown]>([
    ['turns', () => slidingWindow(Number.NaN)],
    ['tokens', () => tokenBudget(-1)],
    ['turns', () => compactResults({ turns: Number.NaN })],
    ['errors', () => compactResults({ errors: -1 })],
    ['results', () => clipBlocks({ results: -5 })],
    ['others', () => clipBlocks({ others: Number.NaN })],
    ['toolResult', () => recommendedMix({ toolResult: -1 })],
    ['maxTurns', () => recommendedMix({ maxTurns: Number.NaN })],
  ])('is refused by a policy, too: %s', (name, make) => {
    expect(make).toThrow(`${name}: expected a number of at least 0`)
  })

  test('is not what somebody counts who counts no number: nothing is sent by it', () => {
    const estimate = { ...roughly, message: () => Number.NaN }
    const broken = () => assembleContext({ messages: threeTurns, window: 10_000, estimate })
    expect(broken).toThrow(expect.objectContaining({ code: 'context-overflow' }))
  })
})

describe('room for hardly anything', () => {
  test('is refused with the numbers, whatever there is: a window of 1, a question that is longer', () => {
    const overflow = (needed: number, available: number) =>
      expect.objectContaining({
        code: 'context-overflow',
        data: expect.objectContaining({ tokens: { needed, available } }),
      })
    const question = [userMessage('u1', 'q'.repeat(99))]
    const make = (options: Partial<AssembleOptions>) => () =>
      assembleContext({ messages: question, estimate: exact, reserve: 0, ...options })
    expect(make({ window: 1 })).toThrow(overflow(100, 1))
    expect(make({ window: 99 })).toThrow(overflow(100, 99))
    expect(make({ room: 0 })).toThrow(overflow(100, 0))
    expect(make({ window: 100 })().tokens).toBe(100)
  })

  test('holds nothing of no history', () => {
    for (const headId of [undefined, null, 'unknown'])
      expect(
        assembleContext({ messages: [], window: 1, ...(headId !== undefined && { headId }) }),
      ).toMatchObject({
        messages: [],
        included: [],
        dropped: [],
        tokens: 0,
      })
  })
})

describe('every message that was given is told of', () => {
  test('also one that was given twice, where the branch is chosen by its head', () => {
    const messages = [userMessage('u1'), userMessage('u2'), userMessage('u1'), userMessage('x')]
    const twice = [...messages, ...messages.slice(0, 1)].map((message) =>
      message.id === 'u2' ? { ...message, parentId: 'u1' } : message,
    )
    const context = assembleContext({ messages: twice, headId: 'u2' })
    expect(ids(context)).toBe('u1 u2')
    expect(context.dropped.map(({ reason }) => reason).sort()).toEqual(['branch', 'duplicate', 'duplicate'])
  })
})

describe('a pin', () => {
  const pinned = { metadata: { pinned: true } }
  const code = { content: [{ type: 'text' as const, text: 'code QX7' }], ...pinned }

  test('on a result whose call is gone, or that came a second time, is sent as a note', () => {
    const lost = sent([toolMessage('t0', 'c0', code), ...turn(1), userMessage('u2')], { policies: [pins()] })
    expect(lost.system).toBe('[pinned] clock: code QX7')
    expect(lost.included[0]).toMatchObject({ id: 't0', reason: 'pins' })
    expect(lost.dropped).toEqual([])
    const called = [userMessage('u1'), callingMessage('s1', ['c1']), toolMessage('t1', 'c1')]
    const second = sent([...called, toolMessage('t2', 'c1', code)], { policies: [pins()] })
    expect(second.system).toContain('code QX7')
  })

  test('on an answer that was cut off holds where such answers are left out', () => {
    const half = assistantMessage('a1', 'code QX7', { status: 'interrupted', ...pinned })
    const context = sent([userMessage('u1'), half, userMessage('u2')], {
      policies: [pins()],
      interrupted: 'drop',
    })
    expect(context.system).toBe('[pinned] code QX7')
  })

  test('that failed, or is on its way, is no fact yet', () => {
    const failed = assistantMessage('a1', 'code QX7', { status: 'failed', ...pinned })
    expect(sent([userMessage('u1'), failed], { policies: [pins()] }).notes).toEqual([])
  })

  test('outlasts what tools of the newest turn answered at length', () => {
    const messages = [
      userMessage('u0', 'x', pinned),
      assistantMessage('a0'),
      userMessage('u1', 'q'),
      callingMessage('s1', ['c1']),
      toolMessage('t1', 'c1', { content: [{ type: 'text', text: 'word '.repeat(160) }] }),
    ]
    const facts = ['the code is QX7 '.repeat(10)]
    const context = assembleContext({
      messages,
      estimate: exact,
      room: 900,
      policies: [pins({ facts }), squeezeNewest()],
    })
    expect(context.system).toContain('the code is QX7')
    expect(context.droppedNotes).toEqual([])
    expect(context.included.find(({ id }) => id === 't1')?.changes).toEqual(['clipped'])
  })
})

test('what a summary stood for that had no room itself was left out for the budget', () => {
  const messages = [...turn(1), ...turn(2), userMessage('u3', 'q'.repeat(50))]
  const summary = { ids: ['u1', 'a1'], digest: '', text: 's'.repeat(100) }
  const context = (room: number) =>
    assembleContext({ messages, estimate: exact, room, policies: [summarised(summary, 1)] })
  expect(why(context(300))).toBe('u1 summary, a1 summary')
  expect(why(context(80))).toBe('u1 budget, a1 budget, u2 budget, a2 budget')
})

test('of many system messages the first instructs, the same again is one, and others are notes', () => {
  const messages = [
    systemMessage('i1', 'Be kind.'),
    systemMessage('i2', 'Be brief.'),
    systemMessage('i3', 'Be kind.'),
    systemMessage('i4', ' '),
    userMessage('u1'),
    systemMessage('i5', 'Be brave.'),
  ]
  const context = sent(messages)
  expect(context.system).toBe('Be kind.')
  expect(ids(context)).toBe('i2 u1 i5')
  expect(why(context)).toBe('i3 duplicate, i4 empty')
})

describe('a choice that is none', () => {
  test.each<[string, () => unknown]>([
    [
      'strategy: expected drop_oldest or drop_oldest_pair or summarize, got summarise',
      () => recommendedMix({ strategy: 'summarise' as 'summarize' }),
    ],
    [
      'of: expected some of us,cn,gb,fr,es,br,iban, got constructor',
      () => nationalIds(['constructor' as 'us']),
    ],
    ['finders: expected a list', () => createRedaction({ finders: [emails() as unknown as Finder] })],
    ['finders: expected a list', () => createRedaction({ finders: [emails as unknown as Finder] })],
    [
      'family: expected one of o200k, cl100k, claude, llama3, qwen3, deepseek, gemini, mistral, got gpt-5',
      () => createEstimator({ family: 'gpt-5' as 'o200k' }),
    ],
    ['family: expected one of', () => createLargeEstimator({ family: 'toString' as 'o200k' })],
    ['count: expected a function', () => createEstimator({ count: 4 as unknown as () => number })],
    ['messages: expected a list of messages', () => assembleContext({} as AssembleOptions)],
    ['messages: expected a list of messages', () => assembleContext(undefined as unknown as AssembleOptions)],
    [
      'messages: expected a list of messages',
      () => assembleContext({ messages: 'hello' as unknown as AssembleOptions['messages'] }),
    ],
    ['log: expected a function', () => logger(undefined as unknown as () => void)],
  ])('is refused when it is made, and not when it is first needed: %s', (message, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-request' }))
    expect(make).toThrow(message)
  })
})
