import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { hearAll, responseOf } from './answers.ts'
import { answerBytes } from './fixtures.ts'
import { type Difference, expectSame, type Opinion, parsed, recordedStreams, sdkOf } from './sdk-opinion.ts'

const Words = z.looseObject({ text: z.optional(z.string()), refusal: z.optional(z.string()) })
const Item = z.looseObject({ type: z.string(), content: z.optional(z.nullable(z.array(Words))) })
const Response = z.object({
  id: z.string(),
  model: z.string(),
  output: z.array(Item),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }),
})

async function opinionOnResponse(text: string): Promise<Partial<Opinion>> {
  const final = await sdkOf(text).responses.stream({ model: 'm', input: 'x' }).finalResponse()
  const { id, model, output, usage } = Response.parse(JSON.parse(JSON.stringify(final)))
  const messages = output.filter(({ type }) => type === 'message')
  const words = messages
    .flatMap(({ content }) => content ?? [])
    .map((part) => part.text ?? part.refusal ?? '')
  const calls = output.flatMap(({ type, call_id: call, name, arguments: args, input }) => {
    if (type === 'custom_tool_call') return [[call, name, input]]
    return type === 'function_call' ? [[call, name, parsed(args)]] : []
  })
  const others = output.filter(
    ({ type }) => !/^(message|reasoning|function_call|custom_tool_call)$/.test(type),
  )
  return {
    model,
    responseId: id,
    text: words.join(''),
    calls,
    others: others.map((item) => (item.type === 'image_generation_call' ? 'image' : item)),
    usage: [usage.input_tokens, usage.output_tokens],
  }
}

const Completion = z.object({
  id: z.string(),
  model: z.string(),
  choices: z.array(
    z.object({
      message: z.looseObject({
        content: z.optional(z.nullable(z.string())),
        refusal: z.optional(z.nullable(z.string())),
        tool_calls: z.optional(
          z.array(
            z.looseObject({
              id: z.string(),
              function: z.looseObject({ name: z.string(), arguments: z.optional(z.string()) }),
            }),
          ),
        ),
      }),
    }),
  ),
  usage: z.optional(z.nullable(z.looseObject({ prompt_tokens: z.number() }))),
})

async function opinionOnCompletion(text: string): Promise<Partial<Opinion>> {
  const final = await sdkOf(text).chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
  const { id, model, choices } = Completion.parse(JSON.parse(JSON.stringify(final)))
  const { content, refusal, tool_calls: calls = [] } = choices[0]?.message ?? {}
  return {
    model,
    responseId: id,
    text: (content ?? '') + (refusal ?? ''),
    calls: calls.map((call) => [call.id, call.function.name, parsed(call.function.arguments)]),
  }
}

interface Api {
  name: string
  adapter: typeof chatAdapter
  opinionOn(text: string): Promise<Partial<Opinion>>
  atLeast: number
  differences: readonly Difference[]
}

const APIS: readonly Api[] = [
  {
    name: 'openai-responses',
    adapter: responsesAdapter,
    opinionOn: opinionOnResponse,
    atLeast: 60,
    differences: [
      {
        files: /apply-patch|shell-container\.1|bedrock_mantle_responses_chat_streams/,
        reason: 'the SDK gives up at an event that it does not know; we pass over it',
        throws: /Unhandled response stream event/,
      },
      {
        files: /openai-phase/,
        reason: 'an item is left out, so that the places have a hole; the SDK takes them for an index',
        throws: /missing output at index/,
      },
      {
        files: /azure-deepseek-reasoning/,
        reason: 'it is no answer of this API at all; the SDK says so at once, we at the end',
        throws: /expected 'response.created' event/,
      },
      {
        files: /unknown-error-responses/,
        reason: 'of two errors, one after the other, the SDK tells the first, and we the fuller one',
        throws: /Foobar/,
      },
    ],
  },
  {
    name: 'openai-chat',
    adapter: chatAdapter,
    opinionOn: opinionOnCompletion,
    atLeast: 130,
    differences: [
      {
        files: /^cloudflare|mistral-incremental-tool-call/,
        reason: 'the SDK wants a role, which these servers leave out',
        throws: /missing role/,
      },
      {
        files: /^gpustack|tools_streaming_variant_[ab]|snowflake_thinking/,
        reason: 'the SDK wants a finish reason; [DONE] is an end too, and an error inside the stream is told',
        throws: /missing finish_reason/,
      },
      {
        files: /mistral-stream-with-tools-1-1/,
        reason: 'the SDK wants to be told that a call is a function',
        throws: /missing `type`/,
      },
      {
        files: /anthropic-fallback-tool-call/,
        reason: 'a server of few words: the SDK trips over a call without a number',
        throws: /Cannot read properties of undefined/,
      },
      {
        files: /avian/,
        reason: 'the id changes within the answer: the SDK takes the last one, and we the first',
        fields: ['responseId'],
      },
      {
        files: /mistral-stream-reasoning|mistral_hybrid_reasoning|mistral-mistral-reasoning/,
        reason: 'content that is a list of parts: the SDK makes "[object Object]" of it',
        fields: ['text'],
      },
      {
        files: /vercel-mistral-mistral-tool-call/,
        reason: 'a call that comes with the first piece of all: the SDK loses it',
        fields: ['calls'],
      },
    ],
  },
]

describe.each(APIS)('the official SDK hears the same in the same bytes: $name', (api) => {
  const streams = recordedStreams(api.name)

  test('there are streams to hear, and every difference is in one', () => {
    expect(streams.length).toBeGreaterThanOrEqual(api.atLeast)
    const none = api.differences.filter(({ files }) => !streams.some(([file]) => files.test(file)))
    expect(none).toEqual([])
  })

  test.each(streams)('%s', async (file, expected) => {
    const text = new TextDecoder().decode(answerBytes(file, expected))
    const heard = await hearAll(api.adapter(), responseOf([text]))
    const difference = api.differences.find(({ files }) => files.test(file))
    await expectSame(heard, api.opinionOn(text), difference)
  })
})
