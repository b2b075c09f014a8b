import { toJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as zod from 'zod'
import * as z from 'zod/mini'
import type { JsonSchema } from '../../src/lib/json-schema.ts'
import { type DirectOptions, direct } from '../../src/runtime/direct.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { type Tool, type ToolOptions, tool } from '../../src/turn/tool.ts'
import { play } from './stage.ts'

const name = 'add'
const NUMBERS: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}

const byZod = zod.object({ a: zod.number(), b: zod.number() })
const byMini = z.object({ a: z.number(), b: z.number() })
const byValibot = v.object({ a: v.number(), b: v.number() })
const byArkType = type({ a: 'number', b: 'number' })

/** The same tool in every language. Each `execute` gets numbers, or this file does not compile. */
const ADDERS: Readonly<Record<string, Tool>> = {
  zod: tool({ name, parameters: byZod, execute: ({ a, b }) => a + b }),
  'zod/mini': tool({
    name,
    parameters: byMini,
    jsonSchema: z.toJSONSchema(byMini),
    execute: ({ a, b }) => a + b,
  }),
  Valibot: tool({
    name,
    parameters: byValibot,
    jsonSchema: toJsonSchema(byValibot),
    execute: ({ a, b }) => a + b,
  }),
  'Valibot with its converter': tool({
    name,
    parameters: toStandardJsonSchema(byValibot),
    execute: ({ a, b }) => a + b,
  }),
  ArkType: tool({ name, parameters: byArkType, execute: ({ a, b }) => a + b }),
  'JSON Schema': tool({
    name,
    parameters: NUMBERS,
    execute: (args) => Number(Object(args).a) + Number(Object(args).b),
  }),
}

const calling = (args: unknown) => scriptedModel([[{ toolCall: { name, arguments: args } }], 'I see.'])

describe.each(Object.entries(ADDERS))('a tool in %s', (_, adder) => {
  test('is told to the model as JSON Schema', async () => {
    const model = calling({ a: 1, b: 2 })
    await play({ model, tools: [adder] })
    const { parameters } = model.calls[0]?.context.tools?.[0] ?? {}
    expect(parameters).toMatchObject(NUMBERS)
    expect(parameters).not.toHaveProperty('$schema')
  })

  test('is executed with what fits', async () => {
    const { messages } = await play({ model: calling({ a: 1, b: 2 }), tools: [adder] })
    expect(messages[1]).toMatchObject({ isError: false, content: [{ text: '{"ok":true,"data":3}' }] })
  })

  test('is not executed with what does not fit, and the model is told where', async () => {
    const spied: Tool = { ...adder, execute: () => expect.unreachable() }
    const { messages, outcome } = await play({ model: calling({ a: 1, b: 'two' }), tools: [spied] })
    expect(outcome).toBe('completed')
    expect(messages[1]).toMatchObject({ isError: true })
    expect(JSON.stringify(messages[1])).toMatch(/the arguments do not fit: .*\bb\b/)
  })
})

describe('a schema', () => {
  const executed = async (given: Tool, args: unknown) => {
    const { messages } = await play({ model: calling(args), tools: [given] })
    return messages[1]?.content[0]
  }

  test('that changes what it lets through gives the tool what it made', async () => {
    const parameters = zod.object({ day: zod.string().transform((day) => day.trim()) })
    const jsonSchema = { type: 'object' }
    const given = tool({ name, parameters, jsonSchema, execute: ({ day }) => day })
    expect(await executed(given, { day: ' Monday ' })).toMatchObject({ text: '{"ok":true,"data":"Monday"}' })
  })

  test('that takes its time is waited for', async () => {
    const parameters = zod.object({ n: zod.number().refine(async (n) => n > 0, 'expected more') })
    const given = tool({ name, parameters, execute: ({ n }) => n })
    expect(await executed(given, { n: 0 })).toMatchObject({
      text: expect.stringContaining('n: expected more'),
    })
  })

  test('that throws is an error for the model', async () => {
    const parameters = zod.object({}).refine(() => {
      throw new Error('boom')
    })
    expect(await executed(tool({ name, parameters, execute: () => 1 }), {})).toMatchObject({
      text: '{"ok":false,"error":"boom"}',
    })
  })
})

describe('refused is', () => {
  const execute = () => 1
  const mute = 'jsonSchema: expected JSON Schema; the schema in parameters of add cannot say it itself'
  test.each<[string, Partial<ToolOptions>, string]>([
    ...['', 'add up', 'añadir', 'a'.repeat(129)].map((wrong): [string, Partial<ToolOptions>, string] => [
      `a tool named ${JSON.stringify(wrong)}`,
      { name: wrong },
      `name: expected at most 128 letters, digits, or _ . : -, got ${JSON.stringify(wrong)}`,
    ]),
    [
      'one without a schema',
      { parameters: undefined as never },
      'parameters: expected JSON Schema or a Standard Schema of add',
    ],
    ['a schema that cannot be told to the model', { parameters: byMini }, mute],
    ['a time that is none', { timeout: Number.NaN }, 'timeout: expected a number of at least 0, got NaN'],
    ['one before now', { approvalTimeout: -1 }, 'approvalTimeout: expected a number of at least 0, got -1'],
    ['room that is none', { maxTokens: '9' as never }, 'maxTokens: expected a number of at least 0, got 9'],
    ['a schema that throws when it is asked', { parameters: zod.object({ a: zod.bigint() }) }, mute],
  ])('%s', (_, more, message) => {
    expect(() => tool({ name, parameters: {}, execute, ...more })).toThrow(
      expect.objectContaining({ code: 'invalid-request', message }),
    )
  })
})

test('two tools of one name are refused by whoever is given them', () => {
  const adder = tool({ name, parameters: NUMBERS, execute: () => 1 })
  const model = scriptedModel([])
  const store = sqliteStore(':memory:')
  onTestFinished(() => store.close())
  for (const made of [direct, (given: DirectOptions) => createChatHandler({ ...given, store })]) {
    expect(() => made({ model, tools: [adder, { ...adder }] })).toThrow(
      expect.objectContaining({
        code: 'invalid-request',
        message: 'tools: expected names of their own, got add twice',
      }),
    )
  }
})
