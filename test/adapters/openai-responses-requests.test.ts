import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { collect } from '../../src/adapters/collect.ts'
import type { CallOptions, ModelContext } from '../../src/adapters/contract.ts'
import { hear } from '../../src/adapters/hear.ts'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { RESPONSES_QUIRKS, type ResponsesQuirks } from '../../src/adapters/openai-responses-quirks.ts'
import { say } from '../../src/adapters/say.ts'
import type { Message, ToolBlock, UserBlock } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'
import { responseOf } from './answers.ts'
import { responsesDefects } from './checkers/openai-responses.ts'
import {
  type Item,
  itemsIn,
  kindOf,
  type ResponsesBody,
  sentResponses,
} from './checkers/openai-responses-body.ts'
import { expectedAnswers, readFixture } from './fixtures.ts'

const Entry = z.object({ file: z.string(), api: z.string(), provider: z.string(), status: z.number() })
const recorded = z
  .array(Entry)
  .parse(JSON.parse(readFixture('requests/index.json')))
  .filter(({ api }) => api === 'openai-responses')
  .map((entry) => ({ ...entry, body: JSON.parse(readFixture(`requests/${entry.file}`)) }))
const accepted = recorded.filter(({ status }) => status === 200)
const rejected = recorded.filter(({ status }) => status !== 200)

const ROWS = new Map<string, ResponsesQuirks>(Object.entries(RESPONSES_QUIRKS))
const adapterOf = (provider: string) => {
  const quirks = ROWS.get(provider)
  return responsesAdapter({ provider, ...(quirks && { quirks }) })
}

const Part = z.looseObject({
  type: z.string(),
  text: z.optional(z.string()),
  image_url: z.optional(z.string()),
  file_data: z.optional(z.string()),
  filename: z.optional(z.string()),
})
type Part = z.infer<typeof Part>
const partsOf = (content: unknown): Part[] =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : z.array(Part).parse(content ?? [])

/** A part of a user's message, or of a result, in our words. */
function blockOf({ text, image_url: image, file_data: file, filename: name }: Part): UserBlock {
  if (text !== undefined) return { type: 'text', text }
  const type = image === undefined ? 'file' : 'image'
  const [, mimeType = 'image/*', data] = /^data:([^;]+);base64,(.*)$/s.exec(image ?? file ?? '') ?? []
  const place = data === undefined ? { url: image ?? '' } : { data }
  return { type, mimeType, ...place, ...(name !== undefined && { name }) }
}

const isToolBlock = (block: UserBlock): block is ToolBlock => block.type !== 'file'

/** An item of an answer as the server gave it: what goes back may be shorter. */
const givenItem = (item: Item): unknown =>
  'role' in item && typeof item.content === 'string'
    ? { ...item, type: 'message', content: [{ type: 'output_text', text: item.content }] }
    : { ...item, ...('role' in item && { type: item.type ?? 'message' }) }

/** A recorded history in our words. An answer is heard by the adapter, as it was when it was written. */
async function canonical(items: readonly Item[], model: string, provider: string): Promise<Message[]> {
  const history: Message[] = []
  let answer: Item[] = []
  const endAnswer = async (id: string) => {
    if (answer.length === 0) return
    const response = { object: 'response', model, status: 'completed', output: answer.map(givenItem) }
    const heard = await collect(hear(adapterOf(provider), responseOf([JSON.stringify(response)])))
    history.push(assistantMessage(id, '', heard))
    answer = []
  }
  for (const [i, item] of items.entries()) {
    const kind = kindOf(item)
    const isAnswer =
      !/^(user|system|developer|(function|custom_tool)_call_output)$/.test(kind) ||
      item.type === 'additional_tools'
    if (isAnswer) {
      answer.push(item)
      continue
    }
    await endAnswer(`a${i}`)
    const blocks = partsOf('output' in item ? item.output : 'content' in item ? item.content : '').map(
      blockOf,
    )
    if ('call_id' in item)
      history.push(toolMessage(`t${i}`, String(item.call_id), { content: blocks.filter(isToolBlock) }))
    else if (kind === 'user') history.push(userMessage(`u${i}`, '', { content: blocks }))
    else
      history.push(systemMessage(`s${i}`, '', { content: blocks.filter((block) => block.type === 'text') }))
  }
  await endAnswer('a')
  return history
}

const Options = z.looseObject({
  tools: z.optional(z.array(z.looseObject({ type: z.string(), name: z.optional(z.string()) }))),
  tool_choice: z.optional(z.unknown()),
  max_output_tokens: z.optional(z.number()),
  reasoning: z.optional(z.looseObject({ effort: z.optional(z.enum(['low', 'medium', 'high'])) })),
})
const Tool = z.looseObject({ name: z.string(), parameters: z.record(z.string(), z.unknown()) })

async function encodedAgain(body: unknown, provider: string): Promise<ResponsesBody> {
  const { model, input, instructions } = Loose.parse(body)
  const { tools = [], max_output_tokens: most, reasoning } = Options.parse(body)
  const items = typeof input === 'string' ? [{ role: 'user', content: input } as const] : input
  const context: ModelContext = {
    messages: await canonical(items, model, provider),
    tools: tools.flatMap((tool) => Tool.safeParse({ ...tool, ...Object(tool.function) }).data ?? []),
    ...(instructions && { system: instructions }),
  }
  const options: CallOptions = {
    ...(most !== undefined && { maxOutputTokens: most }),
    ...(reasoning?.effort && { thinking: reasoning.effort }),
  }
  return sentResponses(say(adapterOf(provider), context, { model, ...options }).body)
}

/** What we need of a request that may be wrong in anything else. */
const Loose = z.looseObject({
  model: z.string(),
  instructions: z.optional(z.nullable(z.string())),
  input: z.union([z.string(), z.array(z.custom<Item>((item) => typeof item === 'object'))]),
})

/** OpenAI takes a list for arguments, others do not: it goes back in an object. */
function objectIn(args: string): unknown {
  const value: unknown = JSON.parse(args)
  return Array.isArray(value) ? { arguments: value } : value
}

/** What an item means, whatever its spelling. */
function meaningOf(item: Item): unknown[] {
  const kind = kindOf(item)
  const field = (name: string): unknown => new Map(Object.entries(item)).get(name)
  const textOf = (parts: unknown) => partsOf(parts).map(({ text }) => text)
  const call = { id: field('call_id'), name: field('name'), namespace: field('namespace') }
  const args = field('arguments')
  if (kind === 'function_call') return [{ kind, ...call, args: objectIn(String(args)) }]
  if (kind === 'function_call_output') {
    const output = partsOf(field('output')).map(({ text, image_url: image }) => text ?? image)
    return [{ kind, id: call.id, output }]
  }
  if (kind === 'reasoning') {
    const text = [textOf(field('summary')), textOf(field('content'))].find((texts) => texts.length > 0)
    return [{ kind, text: text ?? [], proof: field('encrypted_content') ?? undefined, id: field('id') }]
  }
  if (!('role' in item) || item.type === 'additional_tools') return [{ kind: 'raw', item }]
  const media = partsOf(item.content).flatMap(({ image_url: image }) => image ?? [])
  const role = kind === 'developer' ? 'system' : kind
  return [{ kind: role, text: textOf(item.content).join('\n\n'), media, phase: field('phase') }]
}

const meaning = (body: ResponsesBody): unknown => ({
  instructions: body.instructions ?? undefined,
  items: itemsIn(body).flatMap(meaningOf),
})

describe('a request that a provider accepted', () => {
  test('there are some', () => expect(accepted).toHaveLength(22))

  test.each(accepted.map((entry) => [entry.file, entry] as const))(
    'comes out meaning the same: %s',
    async (_file, { body, provider }) => {
      const encoded = await encodedAgain(body, provider)
      expect(meaning(encoded)).toEqual(meaning(sentResponses(body)))
      expect(responsesDefects(encoded, provider)).toEqual([])
    },
  )

  test('is accepted by our checker', () => {
    expect(accepted.map(({ file, body, provider }) => [file, responsesDefects(body, provider)])).toEqual(
      accepted.map(({ file }) => [file, []]),
    )
  })

  test('is accepted by our checker, where its answer was recorded, too', () => {
    const requests = expectedAnswers('openai-responses').flatMap(
      ([file, { httpStatus, request, provider }]) => {
        if (httpStatus !== 200 || typeof request !== 'string') return []
        const body: unknown = JSON.parse(readFixture(`streams/${file.replace(/[^/]*$/, request)}`))
        return [[file, responsesDefects(body, provider)]]
      },
    )
    expect(requests.length).toBeGreaterThan(20)
    expect(requests.filter(([, defects]) => defects?.length)).toEqual([])
  })
})

/** Why a request was refused: by its shape, which a checker can see, or for a reason that is not in it. */
const REASONS: readonly (readonly [RegExp, 'shape' | string])[] = [
  [
    /rejects_interleaved|multimodal_tool_returns|modified_history|gpt_5_chat|gpt_5_codex|o1_mini-usage/,
    'shape',
  ],
  [/create_api_error/, 'there is no such model'],
  [/o1_mini-basic|o1_preview/, 'the model does not speak this API'],
  [/raises_appr/, 'the key is wrong'],
  [/deep_research/, 'the model takes no tools of ours'],
]

describe('a request that a provider rejected', () => {
  test('there are some', () => expect(rejected).toHaveLength(12))

  test.each(rejected.map((entry) => [entry.file, entry] as const))(
    'comes out without what was wrong with it: %s',
    async (file, { body, provider }) => {
      const [, reason] = REASONS.find(([pattern]) => pattern.test(file)) ?? []
      expect(reason).toBeDefined()
      expect(responsesDefects(body, provider).length > 0).toBe(reason === 'shape')
      expect(responsesDefects(await encodedAgain(body, provider), provider)).toEqual([])
    },
  )
})
