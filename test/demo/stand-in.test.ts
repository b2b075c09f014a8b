import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listening, listen } from '../../demo/server/listen.ts'
import { answerTo, type Said } from '../../demo/stand-in/answer.ts'
import { sumIn } from '../../demo/stand-in/arithmetic.ts'
import { topics } from '../../demo/stand-in/topics.ts'
import { createStandIn, type StandInOptions } from '../../demo/stand-in.ts'
import { collect } from '../../src/adapters/collect.ts'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { openaiChat } from '../../src/openai-chat.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

let quick: Listening
beforeAll(async () => {
  quick = await listen(createStandIn({ pace: 0 }), { port: 0 })
})
afterAll(() => quick.close())

const modelAt = ({ port }: Listening) => openaiChat('stand-in', { baseURL: `http://127.0.0.1:${port}/v1` })
const ask = async (...messages: Message[]) => collect(modelAt(quick).stream({ messages }))
const asked = (text: string): Said[] => [{ role: 'user', text }]
const words = (text: string): number => text.split(/\s+/).length

describe('the stand-in, through the adapter and over HTTP', () => {
  test('streams an answer with its usage, the same one every time', async () => {
    const question = userMessage('1', 'Why is the sky blue?')
    const answer = await ask(question)
    expect(answer).toMatchObject({ stopReason: 'stop', model: 'stand-in', provider: 'openai' })
    expect(answer.usage?.output).toBeGreaterThan(100)
    expect(answer.usage?.total).toBe((answer.usage?.input ?? 0) + (answer.usage?.output ?? 0))
    expect(await ask(question)).toEqual(answer)
  })

  test('says the same in one piece', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Why is the sky blue?' }] }]
    const response = await fetch(`http://127.0.0.1:${quick.port}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'stand-in', messages }),
    })
    const [choice] = Object(await response.json()).choices
    expect(choice).toMatchObject({ finish_reason: 'stop' })
    expect(choice.message.content).toBe(textOf(await ask(userMessage('1', 'Why is the sky blue?'))))
  })

  test('comes in small pieces, which are no halves of characters', async () => {
    const pieces: string[] = []
    const messages = [userMessage('1', 'What of 👩‍🚀 and 你好世界你好世界?')]
    for await (const event of modelAt(quick).stream({ messages }))
      if (event.type === 'text') pieces.push(event.delta)
    expect(pieces.length).toBeGreaterThan(100)
    for (const piece of pieces) {
      expect([...piece.trim()].length).toBeLessThanOrEqual(7)
      expect(piece).not.toMatch(/\p{Surrogate}/u)
    }
  })

  test('keeps to a limit on its length, and says so', async () => {
    const answer = await collect(
      modelAt(quick).stream({ messages: [userMessage('1')] }, { maxOutputTokens: 5 }),
    )
    expect(answer).toMatchObject({ stopReason: 'length', usage: { output: 5 } })
  })

  test('refers to what was said before', async () => {
    const answer = await ask(
      userMessage('1', 'Do fish sleep?'),
      assistantMessage('2'),
      userMessage('3', 'And birds, in flight?'),
    )
    expect(textOf(answer)).toContain('> Do fish sleep?')
    expect(textOf(answer)).toContain('> And birds, in flight?')
  })

  test('lists its model, and answers what it does not know as a provider would', async () => {
    const at = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${quick.port}/v1${path}`, init)
    expect(await (await at('/models')).json()).toMatchObject({ data: [{ id: 'stand-in' }] })
    const failed = [
      await at('/nowhere'),
      await at('/chat/completions'),
      await at('/chat/completions', { method: 'POST', body: 'not json' }),
      await at('/chat/completions', { method: 'POST', body: '{"messages":[]}' }),
    ]
    expect(failed.map(({ status }) => status)).toEqual([404, 405, 400, 400])
    for (const response of failed)
      expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } })
  })
})

describe('its pace', () => {
  /** A stand-in whose pauses are written down, and end when they are let. */
  async function slow(sleep: NonNullable<StandInOptions['sleep']>) {
    const server = await listen(createStandIn({ pace: 10, sleep }), { port: 0 })
    return { model: modelAt(server), close: () => server.close() }
  }

  test('is a pause before each piece, and a longer one before a paragraph', async () => {
    const pauses: number[] = []
    const { model, close } = await slow(async (ms) => void pauses.push(ms))
    const { usage } = await collect(model.stream({ messages: [userMessage('1', 'Why?')] }))
    await close()
    expect(pauses).toHaveLength((usage?.output ?? 0) + 1)
    expect(new Set(pauses)).toEqual(new Set([40, 10, 60]))
  })

  test('ends when its stream is cancelled', async () => {
    const cancelled = new Promise<void>((resolve, reject) => {
      const standIn = createStandIn({
        pace: 1,
        sleep: (_ms, signal) => new Promise(() => signal.addEventListener('abort', () => resolve())),
      })
      const body = JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Hi' }] })
      const request = new Request('http://stand-in.example/v1/chat/completions', { method: 'POST', body })
      standIn(request).then(({ body: stream }) => stream?.cancel(), reject)
    })
    await cancelled
  })

  test('ends when the client leaves: nobody goes on talking to an empty room', async () => {
    let left: (reason: unknown) => void = () => {}
    const leaving = new Promise((resolve) => {
      left = resolve
    })
    let pieces = 0
    const { model, close } = await slow((_ms, signal) => {
      if (++pieces < 5) return Promise.resolve()
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          left(signal.reason)
          reject(signal.reason)
        })
      })
    })
    const control = new AbortController()
    const events: ModelEvent[] = []
    for await (const event of model.stream({ messages: [userMessage('1')] }, { signal: control.signal })) {
      events.push(event)
      if (event.type === 'text') control.abort()
    }
    await leaving
    await close()
    expect(events.at(-1)).toMatchObject({ type: 'error', reason: 'aborted' })
    expect(pieces).toBeLessThanOrEqual(5)
  })
})

describe('its answers', () => {
  const questions = [
    'Why is the sky blue over the North Sea in winter?',
    'Tell me about the history of tea.',
    'x',
    'What is a tidemark?',
    'What happens when I am offline?',
    'Can I reload the page now?',
    'How do I stop you?',
    'How do I connect a real model?',
  ]

  test.each(questions)('are long enough to be interrupted, and have something to look at: %s', (question) => {
    const answer = answerTo(asked(question))
    expect(words(answer)).toBeGreaterThan(200)
    expect(words(answer)).toBeLessThan(450)
    expect(answer).toMatch(/^##+ /m)
    expect(answer).toMatch(/^(\d\.|-) /m)
    expect(answer).toMatch(/stand-in/)
    expect((answer.match(/^```/gm) ?? []).length % 2).toBe(0)
  })

  test('know what the page is about', () => {
    expect(
      new Set(questions.slice(3).map((question) => /^## (.*)/.exec(answerTo(asked(question)))?.[1])),
    ).toEqual(new Set(topics.map(({ title }) => title)))
  })

  test('vary with the question', () => {
    const openings = questions.map((question) => answerTo(asked(question)).slice(0, 300))
    expect(new Set(openings).size).toBe(questions.length)
  })

  test('own up to being a stand-in, whatever is asked', () => {
    for (const question of [
      ...questions,
      'hello',
      '2 + 2',
      '',
      'How many messages have you seen?',
      'What did I say?',
    ])
      expect(answerTo(asked(question))).toMatch(/stand-in/)
  })

  test('count the messages, and recall what was asked', () => {
    const before: Said[] = [
      { role: 'system', text: 'Be kind.' },
      { role: 'user', text: 'Do fish sleep?' },
      { role: 'assistant', text: 'Yes.' },
    ]
    const count = answerTo([...before, { role: 'user', text: 'How many messages have you seen?' }])
    expect(count).toContain('**4 messages**')
    expect(count).toContain('| user | 2 |')
    expect(answerTo([...before, { role: 'user', text: 'What did I ask first?' }])).toContain(
      '1. Do fish sleep?',
    )
    expect(answerTo(asked('Do you remember me?'))).toContain('the first thing')
  })
})

describe('its sums', () => {
  test.each([
    ['What is 2 + 2?', 4],
    ['12 * (3 + 4)', 84],
    ['2 + 3 * 4 ^ 2', 50],
    ['2 ^ 3 ^ 2', 512],
    ['10 - 4 - 3', 3],
    ['100 / 8 / 2', 6.25],
    ['0.1 + 0.2', 0.3],
    ['-(2 + 3) * 2', -10],
    ['How much is 1,000 × 3, roughly?', 3000],
    ['7 ÷ 2 is what?', 3.5],
    ['(1 + 2) * (3 + 4) - 5', 16],
  ])('%s', (text, value) => {
    expect(sumIn(text)?.value).toBe(value)
    expect(answerTo(asked(text))).toContain(
      ` = ${value.toLocaleString('en-GB', { maximumFractionDigits: 10 })}**`,
    )
  })

  test.each([
    'Meet me at 10:30',
    'Write 3-4 sentences',
    'On 2024-01-02',
    '1 / 0',
    '(1 + 2',
    '1 + ',
    'Section 2.3',
    '',
  ])('are not seen where there are none: %s', (text) => {
    expect(sumIn(text)).toBeUndefined()
  })
})
