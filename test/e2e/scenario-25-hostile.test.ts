import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../../demo/server/listen.ts'
import { requestsTo } from '../runtime/remote-chat.ts'
import { fetchOf, say } from '../runtime/scripted-routes.ts'
import {
  cut,
  openRoom,
  refusal,
  type Server,
  type ServerOptions,
  scriptedServer,
} from '../runtime/scripted-server.ts'
import {
  ANSWER,
  ANSWERS,
  FEED_ANSWERS,
  HARMLESS,
  POISONS,
  poison,
  rewrite,
  WHOLE,
} from '../scenarios/hostile.ts'
import { launchBrowser } from '../support/browser.ts'
import { bundleOf } from './bundle.ts'
import { inPackets } from './packets.ts'
import { PAGE } from './stage-server.ts'

const begun: { close(): unknown }[] = []
/** Each case has a server of its own, below a path of its name: what an earlier one still says is no matter of it. */
const servers = new Map<string, Server>()
let server: Server
let page: Page

beforeAll(async () => {
  const script = await bundleOf('test/e2e/hostile-page.ts')
  const file = (text: string, type: string) => new Response(text, { headers: { 'content-type': type } })
  const listening = await listen(
    async (request) => {
      const { method, headers } = request
      const { pathname, search } = new URL(request.url)
      const [, root, name = '', ...rest] = pathname.split('/')
      const asked = servers.get(name)
      if (pathname === '/page.js') return file(script, 'text/javascript')
      if (root !== 'api' || !asked) return file(PAGE, 'text/html')
      const body = await request.text()
      return fetchOf(asked)(`http://server/${rest.join('/')}${search}`, {
        method,
        headers,
        ...(body !== '' && { body }),
      })
    },
    { port: 0 },
  )
  begun.push(listening)
  const browser = await launchBrowser()
  begun.push(browser)
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${listening.port}/`)
  await page.waitForFunction(() => 'hostile' in window)
})

afterAll(async () => {
  for (const part of begun.toReversed()) await part.close()
})

const FEED = 'GET /sessions/s/events'
const PAGES = 'GET /sessions/s/messages'
const patience = { timeout: 30_000, interval: 10 }
const asked = (line: string) => requestsTo(server, line).length

/** A server that nobody has asked anything yet. With `first`, somebody else has spoken to it. */
function serve(options: ServerOptions, first?: string): void {
  server = scriptedServer(options)
  servers.set(`case-${servers.size}`, server)
  if (first !== undefined) say(server, openRoom(server, 's'), first, null)
}

/** Opens the session in a chat whose clock is fast: what it waits for by its own choice is soon over. */
const open = (speed = 50) =>
  page.evaluate(([name, times]) => window.hostile.open(name, times), [
    `case-${servers.size - 1}`,
    speed,
  ] as const)

const send = (text: string) => page.evaluate((words) => window.hostile.send(words), text)
const resync = () => page.evaluate(() => window.hostile.resync())
const shown = () => page.evaluate(() => window.hostile.shown())
const expectShown = (messages: string[]) => expect.poll(shown, patience).toEqual(messages)

/** Somebody else says something there. */
function sayElsewhere(id: string): void {
  const room = openRoom(server, 's')
  say(server, room, id, room.session.headId)
}

/** In the end the page shows what the server has, and nothing that must never be seen was. */
async function expectInStep(): Promise<void> {
  const truth = () => [...(server.rooms.get('s')?.messages.values() ?? [])]
  const messages = () => page.evaluate(() => window.hostile.messages())
  await expect.poll(async () => isDeepStrictEqual(await messages(), truth()), patience).toBe(true)
  expect(await page.evaluate(() => window.hostile.wrong)).toEqual([])
}

/** A server whose answer stops after `Hé`, until it is told to go on, in a session that shows it so far. */
async function openHeld(): Promise<() => void> {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  serve({ answer: () => ['Hé', held, 'llo'] })
  await open()
  return goOn
}

test.each(HARMLESS)(
  '25: a feed that comes %s is heard by the browser as it was said',
  async (name, change) => {
    serve({ answer: () => ANSWER }, 'one')
    rewrite(server, change)
    inPackets(server)
    await open(10)
    await expect.poll(() => server.streams.size, patience).toBe(1)
    const pages = asked(PAGES)
    sayElsewhere('two')
    await expectShown(['completed one', 'completed two'])
    await send('three')
    const all = ['completed one', 'completed two', 'completed three', `completed ${WHOLE}`]
    await expectShown(all)
    if (name.startsWith('in pieces'))
      expect(await page.evaluate(() => window.hostile.torn)).toBeGreaterThan(0)
    // Nothing had to be mended by pages.
    expect(asked(PAGES)).toBe(pages)
    // Neither for ever, nor at once and again.
    cut(server, 'over')
    sayElsewhere('four')
    await expectShown([...all, 'completed four'])
    expect(asked(FEED)).toBeLessThan(10)
    await expectInStep()
  },
)

test.each(FEED_ANSWERS)(
  '25: a feed that is answered with %s in the middle of a run is asked for with patience, and heard to its end',
  async (_, answer) => {
    const goOn = await openHeld()
    await send('one')
    await expectShown(['completed one', 'streaming Hé'])
    let refused = 0
    server.instead = ({ path }) => (path.endsWith('/events') && ++refused ? answer() : undefined)
    const before = server.requests.length
    cut(server)
    await expect.poll(() => refused, patience).toBeGreaterThan(2)
    expect(server.requests.length - before).toBeLessThan(60)
    expect(await shown()).toEqual(['completed one', 'streaming Hé'])
    server.instead = undefined
    goOn()
    await resync()
    await expectShown(['completed one', 'completed Héllo'])
    await expectInStep()
  },
)

test.each(POISONS)('25: a feed with %s is mended by pages', async (_, frames) => {
  serve({}, 'one')
  poison(server, typeof frames === 'string' ? frames : frames(openRoom(server, 's').log.length + 1), 2)
  await open()
  await expect.poll(() => asked(FEED), patience).toBeGreaterThan(0)
  sayElsewhere('two')
  await resync()
  await expectShown(['completed one', 'completed two'])
  await expectInStep()
  expect(server.requests.length).toBeLessThan(60)
})

test.each(ANSWERS)(
  '25: a server that answers with %s to reading is asked with patience, and in step once it is itself again',
  async (_, answer) => {
    serve({}, 'one')
    server.instead = ({ method }) => (method === 'GET' ? answer() : undefined)
    await open()
    await expect.poll(() => asked(PAGES), patience).toBeGreaterThan(0)
    expect(await shown()).toEqual([])
    server.instead = undefined
    await resync()
    await expectShown(['completed one'])
    await expectInStep()
    expect(server.requests.length).toBeLessThan(60)
  },
)

test.each(ANSWERS.filter(([name]) => /^(408|429|5)/.test(name)))(
  '25: a server that answers with %s to sending gets the message once, when it is itself again',
  async (_, answer) => {
    serve({})
    let refused = 0
    server.instead = ({ method, path }) =>
      method === 'POST' && path.endsWith('/messages') && refused++ < 2 ? answer() : undefined
    await open()
    await send('one')
    await expectShown(['completed one', 'completed re: one'])
    expect(refused).toBe(3)
    expect(new Set(requestsTo(server, 'POST /sessions/s/messages').map(({ body }) => body)).size).toBe(1)
    await expectInStep()
  },
)

test('25: a token that is changed in the middle of a run: the feed goes on with the new one, at once', async () => {
  const goOn = await openHeld()
  let good = 'first'
  const given: (string | null)[] = []
  server.instead = ({ headers, path }) => {
    const token = headers.get('authorization')
    if (path.endsWith('/events')) given.push(token)
    return token === `Bearer ${good}` ? undefined : refusal(401, 'auth')
  }
  await page.evaluate(() => {
    window.hostile.tokens = ['first']
  })
  await send('one')
  await expectShown(['completed one', 'streaming Hé'])
  // Whoever keeps the token hears of the change only by being asked again.
  await page.evaluate(() => {
    window.hostile.tokens = ['first', 'second']
  })
  good = 'second'
  given.length = 0
  cut(server)
  await expect.poll(() => given, patience).toEqual(['Bearer first', 'Bearer second'])
  goOn()
  await expectShown(['completed one', 'completed Héllo'])
  await expectInStep()
})
