import { describe, expect, test } from 'vitest'
import type { CallOptions, Effort, ModelContext, ToolSpec } from '../../src/adapters/contract.ts'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  callingMessage,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { strictGeminiDefects } from './checkers/gemini.ts'
import { type GeminiBody, sentGemini } from './checkers/gemini-body.ts'

const adapter = geminiAdapter()
const hi: ModelContext = { messages: [userMessage('u', 'Hi')] }
const clock: ToolSpec = { name: 'clock', description: 'The time.', parameters: {} }

type Options = CallOptions & { model?: string; stream?: boolean }

function sent(
  context: ModelContext,
  { model = 'gemini-3-flash-preview', ...options }: Options = {},
): GeminiBody {
  const body = sentGemini(say(adapter, context, { model, ...options }).body)
  expect(strictGeminiDefects(body, model)).toEqual([])
  return body
}
const contentsOf = (messages: Message[], model?: string) =>
  sent({ messages }, model === undefined ? {} : { model }).contents
const answer = (content: AssistantBlock[], provider = 'google') =>
  assistantMessage('a', '', { content, provider })

describe('a request to Gemini', () => {
  test('says the model in its path, and streams events unless a whole answer is wanted', () => {
    const pathOf = (model: string, stream = true) => say(adapter, hi, { model, stream }).path
    expect(pathOf('gemini-x')).toBe('/models/gemini-x:streamGenerateContent?alt=sse')
    expect(pathOf('gemini-x', false)).toBe('/models/gemini-x:generateContent')
    expect(pathOf('tunedModels/my model?', false)).toBe('/tunedModels/my%20model%3F:generateContent')
  })

  test('has no more than it needs', () => {
    const { body } = say(adapter, hi, { model: 'm' })
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: {},
    })
  })

  test('says instructions, tools, choice and sampling in its words', () => {
    const context = { ...hi, system: 'Be brief.', tools: [clock] }
    const body = sent(context, {
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      stop: ['END'],
      toolChoice: { name: 'clock' },
      output: { schema: { type: 'object' } },
    })
    expect(body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [
        {
          functionDeclarations: [
            {
              name: 'clock',
              description: 'The time.',
              parametersJsonSchema: { type: 'object', properties: {} },
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['clock'] } },
    })
    expect(body.generationConfig).toEqual({
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    })
  })

  test.each([
    ['auto', 'AUTO'],
    ['none', 'NONE'],
    ['required', 'ANY'],
  ] as const)('calls the choice %s %s', (toolChoice, mode) => {
    const { toolConfig } = sent({ ...hi, tools: [clock] }, { toolChoice })
    expect(toolConfig).toEqual({ functionCallingConfig: { mode } })
  })

  test('is refused when the tool that is chosen does not exist', () => {
    expect(() => sent({ ...hi, tools: [clock] }, { toolChoice: { name: 'x' } })).toThrow(
      /there is no tool "x"/,
    )
  })

  test('is joined with what is said in its own words', () => {
    const extra = {
      safetySettings: [],
      generationConfig: { seed: 1, temperature: 2 },
      tools: [{ googleSearch: {} }],
    }
    const body = sent({ ...hi, tools: [clock] }, { temperature: 0, topP: 1, extra })
    expect(body.generationConfig).toEqual({ seed: 1, temperature: 2, topP: 1 })
    expect(body.tools?.map((tool) => Object.keys(tool))).toEqual([['functionDeclarations'], ['googleSearch']])
    expect(body.safetySettings).toEqual([])
  })

  test('cannot be poisoned by a name that every object has', () => {
    const extra: Record<string, unknown> = JSON.parse(
      '{"__proto__":{"x":1},"generationConfig":{"__proto__":{"x":1}}}',
    )
    const { body } = say(adapter, hi, { model: 'm', extra })
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
    expect(Reflect.get({}, 'x')).toBeUndefined()
  })
})

describe('a schema', () => {
  test('goes as it is, but for the constants, which Gemini takes for a choice of one', () => {
    const node = { type: 'object', properties: { kind: { const: 'leaf' }, const: { type: 'string' } } }
    const schema = { $ref: '#/$defs/N', $defs: { N: node, const: node }, minProperties: 1 }
    const { generationConfig } = sent(hi, { output: { schema } })
    const said = { type: 'object', properties: { kind: { enum: ['leaf'] }, const: { type: 'string' } } }
    expect(generationConfig?.responseJsonSchema).toEqual({ ...schema, $defs: { N: said, const: said } })
  })
})

describe('how hard to think', () => {
  const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'max']
  const told = (model: string) =>
    efforts.map((thinking) => {
      const { generationConfig } = sent(hi, { model, thinking })
      return generationConfig?.thinkingConfig
    })
  const shown = (config: object) => ({ ...config, includeThoughts: true })

  test('is a level for models of the third generation', () => {
    const levels = (names: string[]) =>
      names.map((thinkingLevel, i) => (i === 0 ? { thinkingLevel } : shown({ thinkingLevel })))
    expect(told('gemini-3-flash-preview')).toEqual(
      levels(['minimal', 'minimal', 'low', 'medium', 'high', 'high']),
    )
    expect(told('gemini-3-pro-preview')).toEqual(levels(['low', 'low', 'low', 'high', 'high', 'high']))
  })

  test('is a number of tokens for those of the second, of which Pro cannot be stopped', () => {
    const budgets = (numbers: number[]) =>
      numbers.map((thinkingBudget, i) => (i === 0 ? { thinkingBudget } : shown({ thinkingBudget })))
    expect(told('gemini-2.5-flash')).toEqual(budgets([0, 512, 2_048, 8_192, 16_384, 24_576]))
    expect(told('gemini-2.5-pro')).toEqual(budgets([128, 512, 2_048, 8_192, 16_384, 24_576]))
  })

  test('is not said to models that do not think', () => {
    expect(told('gemini-2.0-flash')).toEqual(efforts.map(() => undefined))
    expect(sent(hi, { model: 'gemini-3-pro' }).generationConfig).toEqual({})
  })
})

describe('a history', () => {
  test('has pictures and files as they are, or by their address, or their names', () => {
    const content = [
      { type: 'image', mimeType: 'image/png', data: 'AA==' },
      { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/b.pdf' },
      { type: 'file', mimeType: 'text/plain', attachmentId: 'x', name: 'notes.txt' },
    ] as const
    const [user] = contentsOf([userMessage('u', '', { content: [...content] })])
    expect(user?.parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/b.pdf' } },
      { text: '[file notes.txt not shown]' },
    ])
  })

  test('gives back thinking, proofs and what only Google knows, to Google alone', () => {
    const raw = { executableCode: { language: 'PYTHON', code: '1' }, thoughtSignature: 'S0' }
    const content: AssistantBlock[] = [
      { type: 'other', provider: 'google', raw },
      { type: 'thinking', text: 'Hm.', signature: 'S1' },
      { type: 'text', text: 'Yes.', signature: 'S2' },
      { type: 'image', mimeType: 'image/png', data: 'AA==', signature: 'S3' },
    ]
    const parts = (provider: string) =>
      contentsOf([userMessage('u'), answer(content, provider), userMessage('v')])[1]?.parts
    expect(parts('google')).toEqual([
      raw,
      { text: 'Hm.', thought: true, thoughtSignature: 'S1' },
      { text: 'Yes.', thoughtSignature: 'S2' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 'S3' },
    ])
    expect(parts('anthropic')).toEqual([
      { text: 'Yes.' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    ])
  })

  test('says of the first call of an answer that there never was a proof, where one is demanded', () => {
    const history = [
      userMessage('u'),
      callingMessage('a', ['x', 'y']),
      toolMessage('t', 'x'),
      toolMessage('s', 'y'),
    ]
    const proofs = (model: string) =>
      contentsOf(history, model)[1]?.parts.map(({ thoughtSignature }) => thoughtSignature)
    expect(proofs('gemini-3-flash-preview')).toEqual(['skip_thought_signature_validator', undefined])
    expect(proofs('gemini-flash-latest')).toEqual(['skip_thought_signature_validator', undefined])
    expect(proofs('gemini-2.5-flash')).toEqual([undefined, undefined])
  })

  test('has objects for arguments, whatever the model wrote', () => {
    const given = [{ a: 'half \ud83d' }, [1], null]
    const calls = given.map((args, i) => toolCall(`c${i}`, { arguments: args }))
    const invalid: AssistantBlock = { type: 'toolCall', id: 'c9', name: 'clock', rawArguments: '{"a' }
    const [, model] = contentsOf([userMessage('u'), answer([...calls, invalid])])
    expect(model?.parts.map(({ functionCall }) => functionCall?.args)).toEqual([
      { a: 'half \ufffd' },
      { arguments: [1] },
      { arguments: null },
      { invalid: '{"a' },
    ])
  })

  test('that begins with the model, or ends with it, or is empty, has a user beside it', () => {
    const go = { role: 'user', parts: [{ text: 'Continue.' }] }
    const said = { role: 'model', parts: [{ text: 'Yes.' }] }
    expect(contentsOf([answer([{ type: 'text', text: 'Yes.' }])])).toEqual([go, said, go])
    expect(contentsOf([])).toEqual([go])
  })

  test('has later instructions where they were given, and the first of all in its place', () => {
    const messages = [userMessage('u', 'a'), systemMessage('s', 'Be brief.')]
    const { contents, systemInstruction } = sent({ system: 'Be kind.', messages })
    expect(systemInstruction).toEqual({ parts: [{ text: 'Be kind.' }] })
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: '<system>\nBe brief.\n</system>' }] },
    ])
  })
})
