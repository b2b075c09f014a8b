import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { CallOptions, Effort, ModelContext, ToolSpec } from '../../src/adapters/contract.ts'
import { ollamaAdapter } from '../../src/adapters/ollama.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import { anyHistory } from '../support/histories.ts'
import {
  assistantMessage,
  callingMessage,
  deepFreeze,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { hearAll, responseOf } from './answers.ts'
import {
  type OllamaBody,
  OllamaBody as OllamaRequest,
  ollamaDefects,
  sentOllama,
  strictOllamaDefects,
} from './checkers/ollama.ts'
import { saidIn } from './fault-history.ts'
import { faults, readFixture } from './fixtures.ts'

const adapter = ollamaAdapter()
const hi: ModelContext = { messages: [userMessage('u', 'Hi')] }
const clock: ToolSpec = { name: 'clock', parameters: {} }

type Options = CallOptions & { model?: string; stream?: boolean }

function sent(context: ModelContext, { model = 'm', ...options }: Options = {}): OllamaBody {
  const body = sentOllama(say(adapter, context, { model, ...options }).body)
  expect(strictOllamaDefects(body)).toEqual([])
  return body
}
const messagesOf = (messages: Message[]) => sent({ messages }).messages

describe('a request to Ollama', () => {
  test('has no more than it needs, and says whether to stream', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true, options: {} }
    expect(sent(hi)).toEqual(body)
    expect(sent(hi, { stream: false }).stream).toBe(false)
    expect(say(adapter, hi, { model: 'm' }).path).toBe('/chat')
  })

  test('says instructions, tools, sampling and format in its words', () => {
    const context = { ...hi, system: 'Be brief.', tools: [clock] }
    const schema = { type: 'object' }
    const body = sent(context, {
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      stop: ['END'],
      output: { schema },
    })
    expect(body.messages[0]).toEqual({ role: 'system', content: 'Be brief.' })
    expect(body).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } },
      ],
      options: { num_predict: 9, temperature: 0.5, top_p: 0.9, stop: ['END'] },
      format: schema,
    })
  })

  test('has, of the tools, those that may be called', () => {
    const tools = [clock, { ...clock, name: 'map' }]
    const namesFor = (toolChoice?: CallOptions['toolChoice']) =>
      sent({ ...hi, tools }, toolChoice && { toolChoice }).tools?.map((tool) => tool.function.name)
    expect(namesFor()).toEqual(['clock', 'map'])
    expect(namesFor('required')).toEqual(['clock', 'map'])
    expect(namesFor({ name: 'map' })).toEqual(['map'])
    expect(namesFor('none')).toBeUndefined()
    expect(() => namesFor({ name: 'x' })).toThrow(/there is no tool "x"/)
  })

  test('says how hard to think: whether at all, or how much where a model cannot help it', () => {
    const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'max']
    const told = (model: string) => efforts.map((thinking) => sent(hi, { model, thinking }).think)
    expect(told('qwen3')).toEqual([false, true, true, true, true, true])
    expect(told('gpt-oss:20b')).toEqual(['low', 'low', 'low', 'medium', 'high', 'high'])
    expect(sent(hi)).not.toHaveProperty('think')
  })

  test('is joined with what is said in its own words', () => {
    const extra = { keep_alive: '10m', options: { num_ctx: 8_192 } }
    expect(sent(hi, { temperature: 0, extra })).toMatchObject({
      keep_alive: '10m',
      options: { temperature: 0, num_ctx: 8_192 },
    })
  })
})

describe('a history', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==' } as const

  test('has pictures beside the text, and says what it cannot show', () => {
    const far = { type: 'image', mimeType: 'image/png', url: 'https://a.example/b.png' } as const
    const pdf = { type: 'file', mimeType: 'application/pdf', data: 'AA==', name: 'b.pdf' } as const
    const content = [{ type: 'text' as const, text: 'Look' }, image, far, pdf]
    expect(messagesOf([userMessage('u', '', { content })])).toEqual([
      {
        role: 'user',
        content: 'Look\n\n[image image/png not shown]\n\n[file b.pdf not shown]',
        images: ['AA=='],
      },
    ])
  })

  test('gives thinking back to Ollama alone, and arguments as objects', () => {
    const content: AssistantBlock[] = [
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Let me see.' },
      toolCall('c', { arguments: [1] }),
    ]
    const said = (provider: string) =>
      messagesOf([
        userMessage('u'),
        assistantMessage('a', '', { content, provider }),
        toolMessage('t', 'c'),
      ])[1]
    const call = { id: 'c', function: { name: 'clock', arguments: { arguments: [1] } } }
    const answer = { role: 'assistant', content: 'Let me see.', tool_calls: [call] }
    expect(said('ollama')).toEqual({ ...answer, thinking: 'Hm.' })
    expect(said('openai')).toEqual(answer)
  })

  test('has results by id and name, with their pictures after them', () => {
    const messages = messagesOf([
      userMessage('u'),
      callingMessage('a', ['x', 'y']),
      toolMessage('t', 'x', { content: [image] }),
      toolMessage('s', 'y', { content: [] }),
    ])
    const result = (id: string, content: string) => ({
      role: 'tool',
      tool_name: 'clock',
      tool_call_id: id,
      content,
    })
    expect(messages.slice(2)).toEqual([
      result('x', '(see attached image)'),
      result('y', '(no output)'),
      { role: 'user', content: 'Images from above:', images: ['AA=='] },
    ])
  })

  test('of any kind at all is taken', () => {
    fc.assert(
      fc.property(anyHistory('ollama', { x: 1 }), (messages) => {
        const { body } = say(adapter, { messages: deepFreeze(messages) }, { model: 'm' })
        expect(strictOllamaDefects(sentOllama(body))).toEqual([])
      }),
    )
  })

  test('in which nobody spoke has a user', () => {
    expect(messagesOf([])).toEqual([{ role: 'user', content: 'Continue.' }])
  })
})

describe('faults and recorded requests', () => {
  /** Faults that were reported of every target, and those of others that Ollama could have as well. */
  const ours = faults().filter(
    ({ id, direction, input }) =>
      direction === 'serialise' &&
      (input.target === 'any' || ['S01', 'S10', 'S21', 'S41', 'S50'].includes(id)),
  )

  test.each(ours.map((fault) => [fault.id, fault.symptom, fault] as const))(
    '%s: %s',
    (_id, _symptom, fault) => {
      const { context, options } = saidIn(fault, 'ollama')
      sent(context, options)
    },
  )

  test('there are faults to test', () => expect(ours).toHaveLength(7))

  const Entry = z.looseObject({ file: z.string(), api: z.string(), status: z.number() })
  const recorded = z
    .array(Entry)
    .parse(JSON.parse(readFixture('requests/index.json')))
    .filter(({ api }) => api === 'ollama')

  test('none of the recorded requests was refused, so there is nothing that a checker could refuse by example', () => {
    expect(recorded.map(({ status }) => status)).toEqual([200, 200])
  })

  test.each(recorded.map(({ file }) => file))(
    'accepted, and comes out meaning the same: %s',
    async (file) => {
      const body = JSON.parse(readFixture(`requests/${file}`))
      // Fields that are null are absent.
      expect(ollamaDefects(body)).toEqual([])
      const { messages } = OllamaRequest.parse(body)
      const history: Message[] = []
      const waiting: string[] = []
      for (const [i, message] of messages.entries()) {
        if (message.role === 'tool')
          history.push(
            toolMessage(`m${i}`, waiting.shift() ?? '', {
              content: [{ type: 'text', text: message.content }],
            }),
          )
        else if (message.role === 'user') history.push(userMessage(`m${i}`, message.content))
        else {
          const answer = JSON.stringify({ message, done: true, done_reason: 'stop' })
          const heard = await hearAll(adapter, responseOf([answer]))
          waiting.push(
            ...heard.message.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : [])),
          )
          history.push(assistantMessage(`m${i}`, '', heard.message))
        }
      }
      const meaning = (of: OllamaBody) =>
        of.messages
          .filter(({ content }) => content !== 'Continue.')
          .map(({ role, content, tool_calls: calls = [] }) => [
            role,
            content,
            calls.map((call) => call.function),
          ])
      expect(meaning(sent({ messages: history }))).toEqual(meaning(OllamaRequest.parse(body)))
    },
  )
})
