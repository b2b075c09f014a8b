import { describe, expect, test } from 'vitest'
import type { Adapter } from '../../src/adapters/adapter.ts'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { SERVER_QUIRKS } from '../../src/adapters/compatible.ts'
import type { CallOptions } from '../../src/adapters/contract.ts'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { chatDefects, sentBody, serverDefects } from './checkers/openai-chat.ts'
import { responsesDefects } from './checkers/openai-responses.ts'

/** Requests that no recording has, and that a provider's own words refuse. */

const bodyOf = (
  adapter: Adapter,
  messages: readonly Message[],
  options: CallOptions & { model?: string; system?: string } = {},
): unknown => {
  const { system = '', model = 'm', ...call } = options
  return JSON.parse(JSON.stringify(say(adapter, { messages, system }, { model, ...call }).body))
}
const chat = (server: keyof typeof SERVER_QUIRKS | 'openai') =>
  chatAdapter({ provider: server, ...(server !== 'openai' && { quirks: SERVER_QUIRKS[server] }) })
const picture = (fields: object) =>
  userMessage('u', '', { content: [{ type: 'image', mimeType: 'image/png', ...fields }] })

const DIALECTS: readonly (readonly [string, Adapter, (body: unknown) => string[]])[] = [
  ['anthropic', messagesAdapter(), messagesDefects],
  ['openai-chat', chat('openai'), chatDefects],
  ['openai-responses', responsesAdapter(), responsesDefects],
]

describe.each(DIALECTS)('%s', (_, adapter, defectsOf) => {
  test.each(['', 'mcp.search', 'get weather', 'functions:f', 'ü', 'f'.repeat(300)])(
    'a name that a call has from elsewhere is one that is taken: %j',
    (name) => {
      const call: AssistantBlock = { type: 'toolCall', id: 'c', name, arguments: {} }
      const history = [
        userMessage('u', 'Hi'),
        assistantMessage('a', '', { content: [call] }),
        toolMessage('t', 'c'),
      ]
      expect(defectsOf(bodyOf(adapter, history))).toEqual([])
    },
  )

  test.each(['image/svg+xml', 'image/tiff', 'image/heic', 'image/bmp'])(
    'a picture as %s is named',
    (mimeType) => {
      const body = bodyOf(adapter, [picture({ mimeType, data: 'AAAA' })])
      expect(defectsOf(body)).toEqual([])
      expect(JSON.stringify(body)).toContain(`[image ${mimeType} not shown]`)
    },
  )
})

describe.each([...DIALECTS, ['gemini', geminiAdapter(), () => []] as const])(
  '%s',
  (_, adapter, defectsOf) => {
    test.each([
      ['an address that holds it', { url: 'data:image/png;base64,iVBORw0K' }],
      ['an address with more about it', { url: 'data:image/png;name=x.png;base64,iVBORw0K' }],
      ['a kind by its common name', { mimeType: 'image/jpg', data: 'iVBORw0K' }],
    ])('a picture is shown, given by %s', (_by, fields) => {
      const body = bodyOf(adapter, [picture(fields)])
      const kind = 'mimeType' in fields ? 'image/jpeg' : 'image/png'
      expect(defectsOf(body)).toEqual([])
      expect(JSON.stringify(body)).toMatch(new RegExp(`${kind}[^ ]*iVBORw0K`))
      expect(JSON.stringify(body)).not.toContain('not shown')
    })

    test('an empty text stops no model', () => {
      expect(JSON.stringify(bodyOf(adapter, [userMessage('u', 'Hi')], { stop: [''] }))).not.toContain('stop')
    })
  },
)

describe('who speaks after whom', () => {
  const history = [
    systemMessage('s1', 'Be brief.'),
    userMessage('u1', 'One'),
    userMessage('u2', 'Two'),
    assistantMessage('a1', 'Three'),
    systemMessage('s2', 'Be long.'),
    userMessage('u3', 'Four'),
    assistantMessage('a2', 'Fi'),
  ]
  const roles = (body: unknown) =>
    sentBody(body)
      .messages.map(({ role }) => role[0])
      .join('')

  test.each([
    ['openai', 'suuasua'],
    ['mistral', 'suuauuau'],
    ['perplexity', 'suauau'],
  ] as const)('at %s: %s', (server, wanted) => {
    const body = bodyOf(chat(server), history)
    expect(roles(body)).toBe(wanted)
    expect(serverDefects(body, server)).toEqual([])
    for (const text of ['One', 'Two', 'Three', 'Be long.', 'Four', 'Fi'])
      expect(JSON.stringify(body)).toContain(text)
  })

  test.each([
    ['o1-mini', 'user'],
    ['openai/o1-preview', 'user'],
    ['o1', 'system'],
    ['gpt-4o', 'system'],
  ])('%s takes instructions from the %s', (model, role) => {
    const { messages } = sentBody(
      bodyOf(chat('openai'), [userMessage('u', 'Hi')], { model, system: 'Be brief.' }),
    )
    expect(messages[0]).toMatchObject({ role, content: 'Be brief.' })
  })
})

test.each([
  ['gpt-6', true],
  ['codex-mini-latest', true],
  ['gpt-5-chat-latest', false],
  ['gpt-oss-120b', false],
])('%s is a model that thinks before it answers, and takes no temperature: %s', (model, thinks) => {
  const options = { model, temperature: 0.5, maxOutputTokens: 100 }
  const body = bodyOf(chat('openai'), [userMessage('u', 'Hi')], options)
  const wanted = thinks ? { max_completion_tokens: 100 } : { max_tokens: 100, temperature: 0.5 }
  expect(body).toEqual({
    model,
    messages: expect.anything(),
    stream: true,
    stream_options: expect.anything(),
    ...wanted,
  })
})

describe('Claude, asked to think in the middle of calls', () => {
  const call = (id: string): AssistantBlock => ({ type: 'toolCall', id, name: 'f', arguments: {} })
  const proof: AssistantBlock = { type: 'thinking', text: 'hm', signature: 'SIG' }
  const turn = (id: string, provider: string, ...content: AssistantBlock[]) => [
    assistantMessage(`a${id}`, '', { content: [...content, call(id)], provider }),
    toolMessage(`t${id}`, id),
  ]
  const question = userMessage('u', 'Hi')
  const thinking = (model: string, ...messages: Message[]) =>
    bodyOf(messagesAdapter(), [question, ...messages], { model, thinking: 'low' })

  test.each([
    [
      'thinks on where it thought before',
      [...turn('1', 'anthropic', proof), ...turn('2', 'anthropic')],
      'enabled',
    ],
    ['does not where it had not', turn('1', 'anthropic'), undefined],
    ['does not where another did', turn('1', 'google', proof), undefined],
    ['thinks about a new question', [...turn('1', 'google', proof), userMessage('v', 'And?')], 'enabled'],
  ])('%s', (_, messages, type) => {
    const body = thinking('claude-sonnet-4-5', ...messages)
    expect(messagesDefects(body)).toEqual([])
    if (type) expect(body).toMatchObject({ thinking: { type } })
    else expect(body).not.toHaveProperty('thinking')
  })

  test('decides by itself, where it is a newer one', () => {
    expect(thinking('claude-opus-4-6', ...turn('1', 'google', proof))).toMatchObject({
      thinking: { type: 'adaptive' },
    })
  })
})
