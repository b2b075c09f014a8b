import { describe, expect, test } from 'vitest'
import { capabilitiesOf } from '../../src/adapters/capabilities.ts'
import type { Capabilities } from '../../src/adapters/contract.ts'
import { anthropic } from '../../src/runtime/anthropic.ts'
import { gemini } from '../../src/runtime/gemini.ts'
import { ollama } from '../../src/runtime/ollama.ts'
import { openai } from '../../src/runtime/openai.ts'
import { openaiChat } from '../../src/runtime/openai-chat.ts'
import { measureBundle } from '../support/measure-bundle.ts'
import { expectedAnswers } from './fixtures.ts'

const known = (id: string): Capabilities => capabilitiesOf({ id })

describe('what is known of a model by its name', () => {
  test.each<[string, Capabilities]>([
    ['claude-opus-5-5', { contextWindow: 1_000_000, maxOutput: 128_000, thinking: true }],
    ['claude-opus-4-6', { contextWindow: 1_000_000, maxOutput: 128_000 }],
    ['claude-sonnet-4-5', { contextWindow: 200_000, maxOutput: 64_000, images: true, tools: true }],
    ['claude-sonnet-4-20250514', { contextWindow: 200_000, maxOutput: 64_000 }],
    ['claude-opus-4-20250514', { contextWindow: 200_000, maxOutput: 32_000 }],
    ['claude-3-haiku-20240307', { maxOutput: 4_096, thinking: false }],
    ['gpt-5', { contextWindow: 400_000, maxOutput: 128_000, thinking: true }],
    ['gpt-5-2025-08-07', { contextWindow: 400_000 }],
    ['gpt-5.4', { contextWindow: 1_050_000 }],
    ['gpt-5.4-mini', { contextWindow: 400_000 }],
    ['gpt-5-chat-latest', { maxOutput: 16_384, thinking: false }],
    ['gpt-4.1-mini', { contextWindow: 1_047_576, thinking: false }],
    ['gpt-4o-mini-2024-07-18', { contextWindow: 128_000, images: true }],
    ['o3-mini', { contextWindow: 200_000, images: false, thinking: true }],
    ['o4-mini', { contextWindow: 200_000, images: true }],
    ['gemini-2.5-flash', { contextWindow: 1_048_576, maxOutput: 65_536, thinking: true }],
    ['gemini-3-flash-preview', { contextWindow: 1_048_576 }],
    ['grok-4-0709', { contextWindow: 256_000 }],
    ['grok-4-1-fast-non-reasoning', { contextWindow: 2_000_000, thinking: false }],
    ['deepseek-v4-pro', { contextWindow: 1_000_000, images: false }],
    ['mistral-small-latest', { contextWindow: 256_000, images: true }],
    ['kimi-k2.5', { contextWindow: 262_144 }],
    ['glm-4.7', { contextWindow: 204_800, images: false }],
    ['sonar-pro', { contextWindow: 200_000, tools: false }],
  ])('%s', (id, capabilities) => {
    expect(known(id)).toMatchObject(capabilities)
  })

  test.each([
    ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['openai/o3', 'o3'],
    ['Claude-Opus-4-1', 'claude-opus-4-1'],
  ])('%s is %s under another name', (id, same) => {
    expect(known(id)).toEqual(known(same))
    expect(known(id).contextWindow).toBeGreaterThan(0)
  })

  test.each([
    'my-own-model',
    '',
    'gemini-2.5-flash-preview-tts',
    'gpt-image-1',
    'gpt-4-1106-preview',
    'foo3',
  ])('nothing is known of %j', (id) => {
    expect(known(id)).toEqual({})
  })

  // Of what was read this cannot be said: a provider that runs tools of its own counts the same context once a round.
  test('no recorded answer is longer than the limits say', () => {
    const apis = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
    const wrong = apis.flatMap(expectedAnswers).filter(([, { model, usage, usageAmbiguous }]) => {
      const { maxOutput = Infinity } = known(model ?? '')
      return usage && !usageAmbiguous && usage.output > maxOutput
    })
    expect(wrong.map(([file]) => file)).toEqual([])
  })

  test('a model that was recorded thinking is not said not to', () => {
    const wrong = ['openai-responses', 'anthropic', 'gemini']
      .flatMap(expectedAnswers)
      .filter(([, { model, thinkingLen }]) => thinkingLen > 0 && known(model ?? '').thinking === false)
    expect(wrong.map(([file, { model }]) => [file, model])).toEqual([])
  })

  test('a model that was recorded calling tools is not said not to', () => {
    const apis = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
    const wrong = apis
      .flatMap(expectedAnswers)
      .filter(([, { model, toolCalls }]) => toolCalls.length > 0 && known(model ?? '').tools === false)
    expect(wrong.map(([file, { model }]) => [file, model])).toEqual([])
  })
})

describe('what the user says of a model', () => {
  test.each([
    ['anthropic', anthropic],
    ['gemini', gemini],
    ['ollama', ollama],
    ['openai', openai],
    ['openaiChat', openaiChat],
  ])('outranks what is known, whoever answers: %s', (_, make) => {
    const model = make('gpt-4o', { capabilities: { contextWindow: 8_000, thinking: true } })
    expect(model.capabilities).toMatchObject({ contextWindow: 8_000, thinking: true })
    expect(capabilitiesOf(model)).toMatchObject({ ...known('gpt-4o'), contextWindow: 8_000, thinking: true })
    expect(make('gpt-4o', {}).capabilities ?? {}).not.toHaveProperty('contextWindow')
  })

  test('is all there is of a model that nobody knows', () => {
    expect(capabilitiesOf({ id: 'x', capabilities: { tools: true } })).toEqual({ tools: true })
  })

  test('a table that is read is not written', () => {
    const first = known('gpt-4o')
    first.contextWindow = 1
    expect(known('gpt-4o').contextWindow).toBe(128_000)
  })
})

test('who does not ask does not pay: the table is in no bundle of a model', async () => {
  const model = "export { openaiChat } from 'tidemark/openai-chat'"
  const both = await measureBundle({ entry: `${model}\nexport { capabilitiesOf } from 'tidemark'` })
  const alone = await measureBundle({ entry: model })
  expect(both.gzip - alone.gzip).toBeGreaterThan(400)
})
