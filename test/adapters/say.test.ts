import { describe, expect, test } from 'vitest'
import type { Adapter } from '../../src/adapters/adapter.ts'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { promptsOf } from '../../src/adapters/chrome-encode.ts'
import type { ModelContext } from '../../src/adapters/contract.ts'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { ollamaAdapter } from '../../src/adapters/ollama.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { say } from '../../src/adapters/say.ts'
import { assistantMessage, deepFreeze, toolCall, toolMessage, userMessage } from '../support/messages.ts'

const HALF = '\ud83d'
const WHOLE = '\u{1f600}'

const adapters: Adapter[] = [
  responsesAdapter(),
  chatAdapter(),
  messagesAdapter(),
  geminiAdapter(),
  interactionsAdapter(),
  ollamaAdapter(),
]
const named = adapters.map((adapter): [string, Adapter] => [adapter.dialect, adapter])

/** Half a character wherever somebody else's text can stand, and a whole one beside it. */
const broken: ModelContext = {
  system: `system ${HALF}${WHOLE}`,
  messages: [
    userMessage('1', `user ${HALF}${WHOLE}`),
    userMessage('2', '', {
      content: [{ type: 'file', mimeType: 'text/plain', attachmentId: 'x', name: `file ${HALF}.txt` }],
    }),
    assistantMessage('3', '', {
      content: [
        { type: 'text', text: `answer ${HALF}${WHOLE}` },
        toolCall('c', { name: `call${HALF}`, arguments: { [`key ${HALF}`]: [`value ${HALF}${WHOLE}`] } }),
      ],
    }),
    toolMessage('4', 'c', { content: [{ type: 'text', text: `result ${HALF}${WHOLE}` }] }),
    userMessage('5', 'Go on.'),
  ],
  tools: [
    {
      name: 'f',
      description: `description ${HALF}${WHOLE}`,
      parameters: {
        properties: { [`property ${HALF}`]: { enum: [`choice ${HALF}${WHOLE}`], description: HALF } },
      },
    },
  ],
}

describe('half a surrogate pair', () => {
  test.each(named)('is nowhere in what is sent to %s', (_, adapter) => {
    const output = { schema: { properties: { [`field ${HALF}`]: { description: `of ${HALF}` } } } }
    const extra = { metadata: { [`note ${HALF}`]: [HALF] } }
    const { body } = say(adapter, deepFreeze(broken), { model: 'm', output, extra })
    const text = JSON.stringify(body)
    expect(text).not.toMatch(/\\ud[89a-f]/i)
    for (const word of ['system', 'user', 'answer', 'result', 'description', 'choice', 'value'])
      expect(text).toContain(`${word} \ufffd${WHOLE}`)
    for (const word of ['property', 'note', 'key']) expect(text).toContain(`${word} \ufffd`)
  })

  test('is nowhere in what the built-in model is asked', () => {
    expect(JSON.stringify(promptsOf(broken, 'chrome'))).not.toMatch(/\\ud[89a-f]/i)
  })
})

describe('what an app adds', () => {
  test.each(named)('is joined with what is said otherwise, to %s', (_, adapter) => {
    const extra = { tools: [{ type: 'search' }], model: 'other', nested: { deep: [1] } }
    const { body } = say(adapter, broken, { model: 'm', extra })
    expect(body).toMatchObject({ model: 'other', nested: { deep: [1] } })
    expect(body.tools).toHaveLength(2)
    expect(body.tools).toContainEqual({ type: 'search' })
  })

  test('takes away what it says is undefined', () => {
    const { body } = say(responsesAdapter(), broken, { model: 'm', extra: { store: undefined } })
    expect(JSON.stringify(body)).not.toContain('"store"')
  })
})

test.each(named)('a choice among no tools and an empty list of ends are not said to %s', (_, adapter) => {
  const { body } = say(
    adapter,
    { messages: [userMessage('1', 'Hi')] },
    { model: 'm', toolChoice: 'required', stop: [] },
  )
  expect(JSON.stringify(body)).not.toMatch(/tool_?choice|function_?calling|stop|"tools"/i)
})

test.each(named)('a choice of a tool that is not there is never sent to %s', (_, adapter) => {
  expect(() => say(adapter, broken, { model: 'm', toolChoice: { name: 'g' } })).toThrow(
    'toolChoice: there is no tool "g"',
  )
})
