import { afterEach, describe, expect, test, vi } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import { type CompatibleServer, SERVERS } from '../../src/adapters/compatible.ts'
import type { Model } from '../../src/adapters/contract.ts'
import type { Message } from '../../src/message/schema.ts'
import { compatible, type ServerName } from '../../src/runtime/compatible.ts'
import { expectedAnswers } from '../adapters/fixtures.ts'
import { assistantMessage, toolCall, toolMessage, userMessage } from '../support/messages.ts'

const ANSWER = `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\n`
const NAMES = Object.keys(SERVERS).filter((name): name is ServerName => name in SERVERS)
/** Something for every brace. */
const at = {
  resource: 'res',
  deployment: 'dep',
  apiVersion: '2024-10-21',
  region: 'eu-west-1',
  account: 'acc',
  host: 'h.net',
}

/** What a model asks of its server. */
async function asked(
  make: (fetch: typeof globalThis.fetch) => Model,
  messages: Message[] = [userMessage('u1')],
) {
  const requests: { url: string; headers: Headers; body: Record<string, unknown> }[] = []
  const model = make(async (url, init) => {
    const body: Record<string, unknown> = JSON.parse(String(init?.body))
    requests.push({ url: String(url), headers: new Headers(init?.headers), body })
    return new Response(ANSWER)
  })
  const message = await collect(model.stream({ messages }))
  const [request] = requests
  if (!request) throw new Error('nothing was asked')
  return { ...request, message, model }
}

describe('every server of the table', () => {
  test.each(NAMES)('%s is asked at its address, with its key, and answers in its name', async (name) => {
    const { url, headers, message, model } = await asked((fetch) =>
      compatible<string>(name, 'm', { fetch, apiKey: 'secret-key', at }),
    )
    const { pathname, protocol, hostname, href } = new URL(url)
    expect(pathname.endsWith('/chat/completions')).toBe(true)
    expect(protocol).toBe(hostname === 'localhost' ? 'http:' : 'https:')
    expect(href).not.toMatch(/[{}]|%7B|secret/i)
    const row: CompatibleServer = SERVERS[name]
    expect(headers.get(row.keyHeader ?? 'authorization')).toBe(
      row.keyHeader ? 'secret-key' : 'Bearer secret-key',
    )
    expect(headers.has('authorization')).toBe(row.keyHeader === undefined)
    expect(message).toMatchObject({ provider: name, content: [{ text: 'Hi' }], stopReason: 'stop' })
    expect(model).toMatchObject({ provider: name, id: 'm' })
  })

  /** Recorded under names that tell nothing of an account. */
  const RECORDED: Readonly<Record<string, Parameters<typeof compatible>[2]>> = {
    azure: { at: { resource: 'traceloop-stg', deployment: 'openllmetry-testing', apiVersion: '2024-02-01' } },
    bedrock: { at: { region: 'us-east-1' } },
    cloudflare: { at: { account: '38bc1f7f09483f93340d366546d47dcd' } },
    databricks: { at: { host: 'adb-138962681435081.1.azuredatabricks.net' } },
    snowflake: { at: { account: 'myorg-myaccount' } },
  }
  /** What the table calls otherwise than the recordings. */
  const NAMED: Readonly<Record<string, string>> = { bedrock: 'bedrock-mantle' }
  const urls = new Map<string, string[]>()
  for (const [, { provider, url }] of expectedAnswers('openai-chat')) {
    const name = NAMED[provider] ?? provider
    if (url && !url.startsWith('<') && name in SERVERS)
      urls.set(provider, [...(urls.get(provider) ?? []), url])
  }

  test('most of them were recorded', () => expect(urls.size).toBeGreaterThanOrEqual(16))

  test.each([...urls])('%s lives where it was recorded', async (provider, recorded) => {
    const { url } = await asked((fetch) =>
      compatible<string>(NAMED[provider] ?? provider, 'm', { fetch, ...RECORDED[provider] }),
    )
    expect(recorded).toContain(url)
  })
})

describe('addresses', () => {
  test('Azure: by resource, deployment and version, the key in a header of its own', async () => {
    const { url, headers } = await asked((fetch) =>
      compatible('azure', 'gpt-4o', {
        fetch,
        apiKey: 'k-123456',
        at: { resource: 'my-res', deployment: 'my-dep', apiVersion: '2024-10-21' },
      }),
    )
    expect(url).toBe(
      'https://my-res.openai.azure.com/openai/deployments/my-dep/chat/completions?api-version=2024-10-21',
    )
    expect(headers.get('api-key')).toBe('k-123456')
  })

  test('one that is not complete is refused at once, by the name of what is missing', () => {
    expect(() => compatible('azure', 'm', { at: { resource: 'r', deployment: 'd' } })).toThrow(
      /at\.apiVersion/,
    )
    expect(() => compatible('cloudflare', 'm')).toThrow(/at\.account/)
  })

  test.each(['evil.com/', 'a@b', 'a#', 'a?b', '..', '', 'a b', 'a\nb', 'a:80', 'ä'])(
    '%j is no part of an address',
    (account) => {
      expect(() => compatible('snowflake', 'm', { at: { account } })).toThrow(
        expect.objectContaining({ code: 'invalid-request' }),
      )
    },
  )

  test('a proxy stands in for any of them', async () => {
    const { url } = await asked((fetch) =>
      compatible('azure', 'm', { fetch, baseURL: 'https://app.test/llm/azure/' }),
    )
    expect(url).toBe('https://app.test/llm/azure/chat/completions')
  })

  test('a server that nobody knows needs one, and nothing more', async () => {
    const { url, message } = await asked((fetch) =>
      compatible('mine', 'm', { fetch, baseURL: 'https://mine.test/v1' }),
    )
    expect(url).toBe('https://mine.test/v1/chat/completions')
    expect(message.provider).toBe('mine')
    expect(() => compatible('mine', 'm')).toThrow(/"mine": say its baseURL/)
  })

  test.each(['toString', '__proto__', 'constructor'])('%s is no server', (name) => {
    expect(() => compatible(name, 'm')).toThrow(expect.objectContaining({ code: 'invalid-request' }))
  })
})

describe('what a server does differently', () => {
  const history: Message[] = [
    userMessage('u1'),
    assistantMessage('a1', '', {
      provider: 'deepseek',
      content: [{ type: 'thinking', text: 'hm' }, toolCall('call_1')],
      stopReason: 'toolUse',
    }),
    toolMessage('t1', 'call_1'),
    userMessage('u2'),
  ]
  const sent = async (server: ServerName) =>
    JSON.stringify((await asked((fetch) => compatible(server, 'm', { fetch }), history)).body)

  test('comes with its name', async () => {
    expect(await sent('deepseek')).toContain('"reasoning_content":"hm"')
    expect(await sent('groq')).not.toContain('reasoning_content')
    expect(await sent('mistral')).toMatch(/"tool_call_id":"[A-Za-z0-9]{9}"/)
    expect(await sent('mistral')).not.toContain('stream_options')
    expect(await sent('moonshot')).toContain('"reasoning_content":"(not recorded)"')
  })

  test('can be said otherwise, field by field', async () => {
    const { body } = await asked(
      (fetch) => compatible('mistral', 'm', { fetch, quirks: { streamOptions: true } }),
      history,
    )
    expect(body).toHaveProperty('stream_options')
    expect(JSON.stringify(body)).toMatch(/"tool_call_id":"[A-Za-z0-9]{9}"/)
  })
})

describe('a key', () => {
  afterEach(() => vi.unstubAllGlobals())

  test('in a page is refused, unless its owner insists', () => {
    vi.stubGlobal('document', {})
    for (const server of ['groq', 'azure-v1'] as const)
      expect(() => compatible<string>(server, 'm', { apiKey: 'k', at })).toThrow(/public in a browser/)
    expect(() => compatible('groq', 'm', { apiKey: 'k', dangerouslyAllowBrowser: true })).not.toThrow()
  })

  test('is outranked by headers of the caller, such as a token of Entra', async () => {
    const { headers } = await asked((fetch) =>
      compatible('azure-v1', 'm', {
        fetch,
        at: { resource: 'r' },
        headers: async () => ({ authorization: 'Bearer t' }),
      }),
    )
    expect(headers.get('authorization')).toBe('Bearer t')
    expect(headers.has('api-key')).toBe(false)
  })
})

test('nothing is read from the surroundings', async () => {
  vi.stubEnv('GROQ_API_KEY', 'from-outside')
  vi.stubEnv('OPENAI_API_KEY', 'from-outside')
  const { headers } = await asked((fetch) => compatible('groq', 'm', { fetch }))
  expect([...headers.keys()]).toEqual(['content-type'])
  vi.unstubAllEnvs()
})
