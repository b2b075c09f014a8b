import { describe, expect, test } from 'vitest'
import type { Adapter } from '../../src/adapters/adapter.ts'
import type { Model } from '../../src/adapters/contract.ts'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { hear } from '../../src/adapters/hear.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { AssistantMessage } from '../../src/message/schema.ts'
import { withoutNulls } from '../../src/protocol/lenient.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { play } from '../turn/stage.ts'
import { hearAll, responseOf } from './answers.ts'
import { answerBytes, expectedAnswers } from './fixtures.ts'

const ADAPTERS: Readonly<Record<string, (provider: string) => Adapter>> = {
  'openai-chat': (provider) => chatAdapter({ provider }),
  gemini: (provider) => geminiAdapter({ provider }),
}

const chunk = (usage: unknown): string => `data: ${JSON.stringify({ choices: [], usage })}\n\n`
const GOOD = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const BAD = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 99 }
const listen = (...usages: unknown[]) => {
  const text = `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n`
  return hearAll(chatAdapter(), responseOf([text, ...usages.map(chunk)]))
}

describe('numbers that contradict each other', () => {
  const contradictory = Object.keys(ADAPTERS)
    .flatMap((api) => expectedAnswers(api))
    // These leave out a number that nobody explains; what is left adds up.
    .filter(
      ([, { usageAmbiguous, rawUsage }]) => usageAmbiguous && !('num_cached_tokens' in Object(rawUsage)),
    )

  test('were recorded, in more than one dialect', () => {
    expect(new Set(contradictory.map(([, { api }]) => api))).toEqual(new Set(Object.keys(ADAPTERS)))
    expect(contradictory.length).toBeGreaterThanOrEqual(10)
  })

  test.each(contradictory)('%s: are kept as they came, and pose as no usage', async (file, expected) => {
    const adapter = ADAPTERS[expected.api]?.(expected.provider) ?? chatAdapter()
    const { message, events } = await hearAll(adapter, responseOf([answerBytes(file, expected)]))
    expect(message.usage).toBeUndefined()
    expect(message.usageRaw).toMatchObject(Object(expected.rawUsage))
    expect(events.filter(({ type }) => type === 'usage')).toEqual([])
    // It can be stored.
    const stored = { ...assistantMessage('a'), usageRaw: message.usageRaw }
    expect(AssistantMessage.parse(stored)).toEqual(stored)
  })

  test.each([
    ['more read from the cache than was read', { ...GOOD, prompt_tokens_details: { cached_tokens: 11 } }],
    ['a sum that is none', BAD],
  ])('%s', async (_, usage) => {
    expect((await listen(usage)).message).toMatchObject({ usageRaw: usage, content: [{ text: 'x' }] })
  })
})

describe('of several reports the newest counts', () => {
  const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, total: 12 }

  test('a good one replaces what contradicted itself', async () => {
    const { message } = await listen(BAD, GOOD)
    expect(message.usage).toEqual(usage)
    expect(message).not.toHaveProperty('usageRaw')
  })

  test('one that contradicts itself leaves nothing of an older one', async () => {
    const { message } = await listen(GOOD, BAD)
    expect(message).not.toHaveProperty('usage')
    expect(message.usageRaw).toEqual(BAD)
  })

  test('one that says nothing changes nothing', async () => {
    expect((await listen(GOOD, {}, null)).message.usage).toEqual(usage)
    expect((await listen({})).message).not.toHaveProperty('usageRaw')
  })
})

test('a run keeps what contradicts itself with the message, and counts by it neither tokens nor costs', async () => {
  const model: Model = {
    provider: 'openai',
    id: 'm',
    stream: () =>
      hear(
        chatAdapter(),
        responseOf([
          `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n`,
          chunk(GOOD),
          chunk(BAD),
        ]),
      ),
  }
  const { messages, log } = await play({ model, history: [userMessage('u1')] })
  const answer = messages.find(({ role }) => role === 'assistant')
  expect(answer).toMatchObject({ status: 'completed', usageRaw: BAD })
  expect(answer).not.toHaveProperty('usage')
  expect(answer).not.toHaveProperty('tokenCount')
  expect(log.events.at(-1)).not.toHaveProperty('usage')
})

test('what was kept as it came comes over the wire as it was', () => {
  const message = { usageRaw: { total: null, parts: [null] }, model: null }
  expect(withoutNulls(message)).toEqual({ usageRaw: { total: null, parts: [null] } })
})
