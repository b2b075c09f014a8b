import { Hono } from 'hono'
import { afterEach, describe, expect, test } from 'vitest'
import { pageHeaders, sameSite } from '../../demo/server/guard.ts'
import { type Listening, listen } from '../../demo/server/listen.ts'
import { configuredUpstream } from '../../demo/server/upstream.ts'

const opened: Listening[] = []

afterEach(async () => {
  for (const server of opened.splice(0)) await server.close()
})

async function serve(port: number, tries = 0): Promise<Listening> {
  const server = await listen(() => new Response('here'), { port, tries })
  opened.push(server)
  return server
}

describe('the port', () => {
  test('is the next free one where the wanted one is taken', async () => {
    const first = await serve(0)
    const second = await serve(first.port, 20)
    expect(second.port).toBeGreaterThan(first.port)
    expect(await (await fetch(`http://127.0.0.1:${second.port}`)).text()).toBe('here')
  })

  test('is refused where it is taken and no other may be tried', async () => {
    const { port } = await serve(0)
    await expect(serve(port)).rejects.toThrow('EADDRINUSE')
  })

  test('is free again after close, open streams or not', async () => {
    const endless = await listen(
      () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
      {
        port: 0,
      },
    )
    const response = await fetch(`http://127.0.0.1:${endless.port}`)
    await endless.close()
    await expect(response.text()).rejects.toThrow()
    expect((await serve(endless.port)).port).toBe(endless.port)
  })
})

describe('the model is', () => {
  test.each([
    ['the stand-in without settings', {}, undefined],
    [
      'the stand-in for a key alone, which may lie around for something else',
      { OPENAI_API_KEY: 'k' },
      undefined,
    ],
    [
      'a local server without a key',
      { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1/', OPENAI_MODEL: 'llama' },
      { baseURL: 'http://127.0.0.1:11434/v1', apiKey: undefined, model: 'llama', standIn: false },
    ],
    [
      'OpenAI itself for a key and a model',
      { OPENAI_API_KEY: 'k', OPENAI_MODEL: 'gpt-4o-mini' },
      { baseURL: 'https://api.openai.com/v1', apiKey: 'k', model: 'gpt-4o-mini', standIn: false },
    ],
  ])('%s', (_, env, upstream) => {
    const found = configuredUpstream(env)
    if (upstream) expect(found).toMatchObject(upstream)
    else expect(found).toBeUndefined()
  })

  test.each([
    [{ OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' }, 'OPENAI_MODEL'],
    [{ OPENAI_MODEL: 'gpt-4o-mini' }, 'OPENAI_API_KEY'],
  ])('asked for when it is half said: %o', (env, missing) => {
    expect(() => configuredUpstream(env)).toThrow(missing)
  })
})

describe('the server answers', () => {
  const app = new Hono()
  app.use('*', pageHeaders())
  app.use('/api/*', sameSite(true))
  app.all('*', (context) => context.text('answered'))
  const ask = (path: string, headers: Record<string, string>) =>
    app.request(path, { method: 'POST', headers: { host: '127.0.0.1:5173', ...headers } })

  test.each([
    ['its own page', { origin: 'http://127.0.0.1:5173', 'sec-fetch-site': 'same-origin' }, 200],
    ['a tool without an origin', {}, 200],
    ['no page of another site', { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' }, 403],
    ['no page of another port', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-site' }, 403],
    ['no page that hides where it is from', { origin: 'null' }, 403],
    ['no name that was bent to this machine', { host: 'evil.example', origin: 'http://evil.example' }, 403],
  ])('%s', async (_, headers, status) => {
    expect((await ask('/api/sessions', headers)).status).toBe(status)
  })

  test('with a policy that lets the page run its own scripts alone', async () => {
    const policy = (await ask('/', {})).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|\*/)
  })
})
