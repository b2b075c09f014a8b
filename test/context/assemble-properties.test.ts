import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assembleContext } from '../../src/context/assemble.ts'
import type { AssembleOptions } from '../../src/context/open-draft.ts'
import { roughly } from '../../src/context/rough.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { assistantMessage, callingMessage, deepFreeze, userMessage } from '../support/messages.ts'
import { problemsOf } from './checker.ts'
import { history } from './history.ts'

const options: fc.Arbitrary<Omit<AssembleOptions, 'messages'>> = fc.record(
  {
    system: fc.constantFrom('Be brief.', 'x'.repeat(40)),
    window: fc.integer({ min: 61, max: 700 }),
    reserve: fc.integer({ min: 0, max: 60 }),
    interrupted: fc.constantFrom('text', 'drop'),
  },
  { requiredKeys: [] },
)

/** The context, or undefined where the newest turn does not fit. */
function assembled(input: AssembleOptions) {
  try {
    return assembleContext(input)
  } catch (error) {
    if (error instanceof TidemarkError && error.code === 'context-overflow') return undefined
    throw error
  }
}

describe('of any history, however damaged', () => {
  test('a context is whole, in order, explained, and nothing that was given is touched', () => {
    fc.assert(
      fc.property(history, options, (messages, given) => {
        deepFreeze(messages)
        const context = assembled({ messages, ...given })
        if (context) expect(problemsOf(messages, context)).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })

  test('a context keeps the window, and a refusal says truly that it could not', () => {
    fc.assert(
      fc.property(history, options, fc.integer({ min: 61, max: 700 }), (messages, given, window) => {
        const { text, message } = roughly
        const context = assembled({ messages, ...given, window })
        const reserve = given.reserve ?? Math.min(4_096, Math.floor(window / 4))
        if (context) {
          const sum = context.messages.reduce(
            (tokens, one) => tokens + message(one),
            text(context.system ?? ''),
          )
          expect(context.tokens).toBe(sum)
          expect(sum).toBeLessThanOrEqual(window - reserve)
        } else {
          const all = assembleContext({ messages, ...given, window: Number.MAX_SAFE_INTEGER })
          const newest = all.included.filter(({ reason }) => reason === 'newest')
          const needed = newest.reduce((tokens, one) => tokens + one.tokens, text(all.system ?? ''))
          const notes = all.included.filter(({ reason }) => reason === 'note' || reason === 'interrupted')
          const most = notes.reduce((tokens, one) => tokens + one.tokens, needed)
          expect(most).toBeGreaterThan(window - reserve)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('turns are sent whole: those that fit without a limit are cut only at a question', () => {
    fc.assert(
      fc.property(history, options, (messages, { window: _, ...given }) => {
        const all = assembleContext({ messages, ...given })
        const part = assembled({ messages, ...given, window: 200, reserve: 0 })
        if (!part) return
        const cut = all.messages.length - part.messages.length
        expect(part.messages).toEqual(all.messages.slice(cut))
        if (cut === 0) return
        const first = part.messages.find((message) =>
          part.included.some((one) => one.id === message.id && one.reason !== 'note'),
        )
        expect(first?.role ?? 'user').toBe('user')
      }),
      { numRuns: 1_000 },
    )
  })

  test('no message is counted twice, and the same input gives the same output', () => {
    fc.assert(
      fc.property(history, options, (messages, given) => {
        const counted: string[] = []
        const { text, message } = roughly
        const estimate = {
          text,
          message(one: Parameters<typeof message>[0]) {
            counted.push(one.id)
            return message(one)
          },
        }
        const first = assembled({ messages, ...given, estimate })
        expect(new Set(counted).size).toBe(counted.length)
        expect(assembled({ messages, ...given })).toEqual(first)
      }),
    )
  })

  test('what is assembled, assembled again, is the same', () => {
    fc.assert(
      fc.property(history, options, (messages, { window: _, ...given }) => {
        const once = assembleContext({ messages, ...given })
        const { system, messages: sent } = once
        const twice = assembleContext({ ...given, messages: sent, ...(system !== undefined && { system }) })
        expect(twice.messages).toEqual(once.messages)
        expect(twice.system).toBe(once.system)
      }),
    )
  })
})

test('10,000 messages are assembled in one go', () => {
  const messages = Array.from({ length: 10_000 }, (_, n) =>
    n % 2 === 0 ? userMessage(`m${n}`) : assistantMessage(`m${n}`),
  )
  const { included, dropped } = assembleContext({ messages, window: 1_000 })
  expect(included.length + dropped.length).toBe(10_000)
})

const words = fc.string({ unit: fc.constantFrom('a', '7', 'é', 'п', '潮', '🌊') })

describe('counting by lengths', () => {
  const { text, message } = roughly

  test('counts by lengths, East Asian text dearer than English', () => {
    expect(text('')).toBe(0)
    expect(text('The tide is the rise and fall of the sea.')).toBe(12)
    expect(text('潮の満ち引き')).toBe(5)
    expect(text('прилив')).toBe(3)
  })

  test('counts every block that is sent, and what a message costs beside', () => {
    expect(message(userMessage('u', 'hello'))).toBe(4 + 2)
    expect(message(callingMessage('a', ['c1']))).toBeGreaterThan(4 + text('clock'))
    expect(
      message(userMessage('u', '', { content: [{ type: 'image', mimeType: 'image/png', url: 'x' }] })),
    ).toBe(1_004)
    const source = { type: 'source' as const, url: 'https://example.com' }
    const other = { type: 'other' as const, provider: 'x', raw: { a: 'hello' } }
    expect(message(assistantMessage('a', '', { content: [source, other] }))).toBe(
      4 + text(JSON.stringify(other)),
    )
  })

  test('grows with the text, and joining saves at most a rounding', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        const joined = text(a + b)
        expect(joined).toBeGreaterThanOrEqual(text(a))
        expect(text(a) + text(b) - joined).toBeGreaterThanOrEqual(0)
        expect(text(a) + text(b) - joined).toBeLessThanOrEqual(1)
      }),
    )
  })
})
