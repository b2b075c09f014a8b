import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { remote } from '../../src/runtime/remote.ts'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { route, say } from './scripted-routes.ts'
import { json, openRoom, refusal, type Seen, type Server, scriptedServer } from './scripted-server.ts'

noStrayRejections()

const FEED = 'GET /sessions/s/events'
const PAGES = 'GET /sessions/s/messages'
/** A connection that is half open: the request may have arrived, and nobody will ever say so. */
const never = () => new Promise<never>(() => {})

/** The first request of a kind is dealt with otherwise. Returns those that were. */
function first(
  server: Server,
  line: string,
  otherwise: (seen: Seen) => Response | Promise<Response>,
): Seen[] {
  const met: Seen[] = []
  server.instead = (seen) => {
    if (`${seen.method} ${seen.path}` !== line || met.length > 0) return undefined
    met.push(seen)
    return otherwise(seen)
  }
  return met
}

/** What the server answers, of which nothing comes but the beginning. */
async function begun(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.slice(0, 20)),
  })
  return new Response(body, response)
}

/** A session that somebody else spoke in, not opened yet. */
function spoken(): Server {
  const server = scriptedServer()
  say(server, openRoom(server, 's'), 'elsewhere', null)
  return server
}

describe('an answer that never begins is given up after the silence:', () => {
  test('that of a feed', async () => {
    const server = spoken()
    const [lost] = [first(server, FEED, never)]
    const open = remoteChat({ server })
    await open.world.pass(44_000)
    expect(requestsTo(server, FEED).length).toBe(1)
    expect(lost[0]?.signal?.aborted).toBe(false)
    await open.world.pass(4_000)
    expect(requestsTo(server, FEED).length).toBe(2)
    expect(lost[0]?.signal?.aborted).toBe(true)
    say(server, openRoom(server, 's'), 'later', 'elsewhere')
    await open.world.pass(1_000)
    expect(shown(open.session.get().messages)).toEqual(['elsewhere', 'later'])
    await expectInStep(open)
  })

  test('a page that is never answered is asked for again after the silence', async () => {
    const server = spoken()
    const lost = first(server, PAGES, never)
    const open = remoteChat({ server })
    await open.world.pass(50_000)
    expect(lost[0]?.signal?.aborted).toBe(true)
    expect(shown(open.session.get().messages)).toEqual(['elsewhere'])
    await expectInStep(open)
  })

  test.each([
    ['the message that creates a session', 'POST /sessions'],
    ['a message', SEND],
  ])('that to %s, which is sent once more under its key', async (_, line) => {
    const server = scriptedServer()
    const lost = first(server, line, (seen) => {
      // It arrived, and was carried out.
      route(server, seen)
      return never()
    })
    const open = remoteChat({ server })
    const { answer } = await open.session.send('one')
    await open.world.pass(50_000)
    expect(lost[0]?.signal?.aborted).toBe(true)
    const sent = requestsTo(server, line)
    expect(sent.length).toBe(2)
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
    expect(shown([await open.world.ended(answer)])).toEqual(['re: one'])
    await expectInStep(open)
  })

  test('that of the list of sessions, which is no news of its own', async () => {
    const server = spoken()
    const lost = first(server, 'GET /sessions', never)
    const { chat, world } = remoteChat({ server })
    await world.pass(50_000)
    expect(lost[0]?.signal?.aborted).toBe(true)
    expect(chat.health.get()).toMatchObject({ connection: 'online' })
    expect(chat.health.get().lastError).toBeUndefined()
  })

  test('that of whoever keeps the token', async () => {
    const world = createWorld()
    const healed = world.env.now() + 10_000
    const headers = () => (world.env.now() < healed ? never() : {})
    const server = spoken()
    const open = remoteChat({ server, world, headers })
    await world.pass(50_000)
    expect(shown(open.session.get().messages)).toEqual(['elsewhere'])
    await expectInStep(open)
  })

  test('sooner, where the app says so', async () => {
    const server = spoken()
    first(server, FEED, never)
    const { world } = remoteChat({ server, silence: 10_000 })
    await world.pass(13_000)
    expect(requestsTo(server, FEED).length).toBe(2)
  })
})

test('whoever asked for the calls of a session, of which no answer comes, is told so', async () => {
  const server = spoken()
  const lost = first(server, 'GET /sessions/s/calls', never)
  const { session, world } = remoteChat({ server })
  const told = session.calls().catch((error: unknown) => error)
  await world.pass(45_000)
  expect(await told).toMatchObject({ code: 'timeout' })
  expect(lost[0]?.signal?.aborted).toBe(true)
})

describe('an answer that does not go on', () => {
  test.each([
    ['with its page', (seen: Seen, server: Server) => begun(route(server, seen))],
    ['with the words of its failure', () => begun(refusal(503, 'server'))],
  ])('%s is given up after the silence, and asked for again', async (_, answer) => {
    const server = spoken()
    first(server, PAGES, (seen) => answer(seen, server))
    const open = remoteChat({ server })
    await open.world.pass(44_000)
    expect(requestsTo(server, PAGES).length).toBe(1)
    await open.world.pass(5_000)
    expect(requestsTo(server, PAGES).length).toBe(2)
    await expectInStep(open)
  })

  test('but slowly, a few bytes at a time, is read to its end', async () => {
    const server = spoken()
    const world = createWorld()
    const slow = first(server, PAGES, async (seen) => {
      const bytes = new Uint8Array(await route(server, seen).arrayBuffer())
      let at = 0
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await world.env.sleep(30_000)
          controller.enqueue(bytes.slice(at, at + 101))
          at += 101
          if (at >= bytes.length) controller.close()
        },
      })
      return new Response(body, { headers: { 'content-type': 'application/json' } })
    })
    const open = remoteChat({ server, world })
    await world.pass(30 * 60_000)
    expect(slow.length).toBe(1)
    expect(requestsTo(server, PAGES).length).toBe(1)
    expect(shown(open.session.get().messages)).toEqual(['elsewhere'])
  })
})

test('whoever is no longer interested need not wait for an answer, nor for a token', async () => {
  const world = createWorld()
  const ask = async (options: Parameters<typeof remote>[0]) => {
    const runtime = remote(options)
    runtime.open?.({ env: world.env, account: 'a' } as never)
    const gone = new AbortController()
    const page = runtime.page('s', { limit: 1 }, gone.signal).catch((error: unknown) => error)
    await world.pass(1_000)
    gone.abort()
    expect(await page).toMatchObject({ code: 'aborted' })
    expect(world.sleeping()).toBe(0)
  }
  await ask({ url: '/api', fetch: never })
  await ask({ url: '/api', fetch: never, headers: never })
})

test('a request that is over leaves nothing on a signal that lives as long as the chat', async () => {
  const { signal } = new AbortController()
  const answers = [() => json({ sessions: [] }), () => refusal(401, 'auth'), () => refusal(500, 'server')]
  for (const answer of answers) {
    const runtime = remote({ url: '/api', fetch: async () => answer(), headers: async () => ({}) })
    for (let n = 0; n < 5; n++) await runtime.sessions({ limit: 1 }, signal).catch(() => undefined)
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
