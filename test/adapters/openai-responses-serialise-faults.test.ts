import { describe, expect, test } from 'vitest'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { RESPONSES_QUIRKS } from '../../src/adapters/openai-responses-quirks.ts'
import { say } from '../../src/adapters/say.ts'
import type { Message } from '../../src/message/schema.ts'
import { responsesDefects } from './checkers/openai-responses.ts'
import {
  type Item,
  itemsIn,
  kindOf,
  type ResponsesBody,
  sentResponses,
} from './checkers/openai-responses-body.ts'
import { saidIn } from './fault-history.ts'
import type { Fault } from './fixtures.ts'
import { serialiseFaults, testFaults } from './serialise-faults.ts'

/** How a target of `faults.json` is spoken to. */
const TARGETS: Readonly<Record<string, { model: string; provider: string }>> = {
  'openai-responses': { model: 'gpt-x', provider: 'openai' },
  'openai-responses store:false': { model: 'gpt-x', provider: 'openai' },
  'openai-responses:gpt-b': { model: 'gpt-b', provider: 'openai' },
  'deepseek-responses': { model: 'gpt-x', provider: 'deepseek' },
  'openai:gpt-5': { model: 'gpt-5', provider: 'openai' },
  any: { model: 'gpt-x', provider: 'openai' },
}

/** Faults of other targets that this one could have as well. */
const ALSO = ['S10', 'S21']

/** A history whose answers a model gave. */
const writtenBy = (model: string, messages: readonly Message[]): Message[] =>
  messages.map((message) => (message.role === 'assistant' ? { ...message, model } : message))

/** A fault's request. `asked`: another model than the fault's own. */
function encodeFault(fault: Fault, asked?: string): ResponsesBody {
  const { model, provider } = TARGETS[fault.input.target ?? ''] ?? { model: 'gpt-x', provider: 'openai' }
  const { context, options } = saidIn(fault, provider)
  const messages = writtenBy(model === 'gpt-b' ? 'gpt-a' : 'gpt-x', context.messages)
  const quirks = provider === 'deepseek' ? RESPONSES_QUIRKS.deepseek : {}
  const adapter = responsesAdapter({ provider, quirks })
  return sentResponses(say(adapter, { ...context, messages }, { ...options, model: asked ?? model }).body)
}

const kinds = (body: ResponsesBody): string => itemsIn(body).map(kindOf).join(' ')
const field = (item: Item | undefined, name: string): unknown => new Map(Object.entries(item ?? {})).get(name)
const fieldsOf = (body: ResponsesBody, kind: string, name: string): unknown[] =>
  itemsIn(body)
    .filter((item) => kindOf(item) === kind)
    .map((item) => field(item, name))
const outputs = (body: ResponsesBody) => fieldsOf(body, 'function_call_output', 'output')

/** The rule of each fault (its `right`), on the request that we make of its input. */
const RIGHT: Readonly<Record<string, (body: ResponsesBody, fault: Fault) => void>> = {
  S10: (body) => {
    expect(kinds(body)).toBe(
      'user function_call function_call function_call_output function_call_output user',
    )
    expect(outputs(body)).toEqual(['1', 'Not executed: there is no result.'])
  },
  S17: (body) => {
    // Its proof is none that we could send: the reasoning stays behind, and so do all ids.
    expect(kinds(body)).toBe('user assistant function_call function_call_output')
    expect(itemsIn(body).filter((item) => field(item, 'id') !== undefined)).toEqual([])
  },
  S18: (body) => {
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
    expect(kinds(body)).toBe('user assistant user')
  },
  S19: (body) => {
    expect(kinds(body)).toBe('user function_call function_call_output')
    expect(itemsIn(body).filter((item) => field(item, 'id') !== undefined)).toEqual([])
    expect(fieldsOf(body, 'function_call_output', 'call_id')).toEqual(
      fieldsOf(body, 'function_call', 'call_id'),
    )
  },
  S21: (body) =>
    expect(outputs(body).map((output) => (Array.isArray(output) ? output.length : output))).toEqual([2, 1]),
  S22: (body) =>
    expect(outputs(body)).toEqual([
      [
        { type: 'input_text', text: 'done' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    ]),
  S38: (body) => expect(body.tools).toMatchObject([{ type: 'function', name: 'f', strict: false }]),
  S39: (body) => {
    expect(kinds(body)).toBe('user function_call function_call_output')
    expect(body.tools).toEqual([
      { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false },
    ])
  },
  S49: (body) => expect(kinds(body)).toBe('user user'),
  S50: (body) =>
    expect(kinds(body)).toBe(
      'user assistant function_call function_call function_call_output function_call_output',
    ),
  S52: (body) => {
    const ids = fieldsOf(body, 'function_call', 'call_id')
    expect(new Set(ids).size).toBe(2)
    expect(fieldsOf(body, 'function_call_output', 'call_id')).toEqual(ids)
    expect(outputs(body)).toEqual(['1', '2'])
  },
  S53: (body, fault) => {
    for (const name of ['temperature', 'stop']) expect(body).not.toHaveProperty(name)
    expect(encodeFault(fault, 'gpt-4o')).toMatchObject({ temperature: 0 })
  },
}

describe('requests do not have the faults reported against other adapters', () => {
  const ours = serialiseFaults((target) => target in TARGETS, ALSO)

  testFaults(ours, RIGHT, (fault) => {
    const body = encodeFault(fault)
    RIGHT[fault.id]?.(body, fault)
    expect(responsesDefects(body, TARGETS[fault.input.target ?? '']?.provider)).toEqual([])
  })

  test('reasoning that can be proven goes back to its own model, as it came and where it stood', () => {
    const fault = ours.find(({ id }) => id === 'S17')
    if (!fault) throw new Error('S17 is gone')
    const proof = (type: string, id: string, more = {}) => JSON.stringify({ type, id, ...more })
    const input = JSON.parse(
      JSON.stringify(fault.input, (_, value) => {
        if (value?.type === 'thinking')
          return { ...value, signature: proof('reasoning', 'rs_1', { encrypted_content: 'gA' }) }
        if (value?.itemId !== undefined)
          return {
            ...value,
            signature: proof(value.type === 'text' ? 'message' : 'function_call', value.itemId),
          }
        return value
      }),
    )
    const messages = writtenBy('gpt-x-2026-01-02', saidIn({ ...fault, input }, 'openai').context.messages)
    const encode = (model: string) => sentResponses(say(responsesAdapter(), { messages }, { model }).body)
    const body = encode('gpt-x')
    expect(kinds(body)).toBe('user reasoning assistant function_call function_call_output')
    expect(itemsIn(body).map((item) => field(item, 'id'))).toEqual([
      undefined,
      'rs_1',
      'msg_1',
      'fc_1',
      undefined,
    ])
    expect(fieldsOf(body, 'reasoning', 'encrypted_content')).toEqual(['gA'])
    expect(responsesDefects(body)).toEqual([])
    expect(kinds(encode('gpt-y'))).toBe('user assistant function_call function_call_output')
  })
})
