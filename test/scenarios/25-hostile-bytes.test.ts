import { describe, expect, test } from 'vitest'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { cut, refusal, scriptedServer } from '../runtime/scripted-server.ts'
import { ANSWER, FEED_ANSWERS, HARMLESS, rewrite, WHOLE } from './hostile.ts'

noStrayRejections()

const FEED = 'GET /sessions/s/events'
const PAGES = 'GET /sessions/s/messages'

describe('25: a feed that comes', () => {
  test.each(HARMLESS)('%s is heard as it was said', async (_, change) => {
    const server = scriptedServer({ answer: () => ANSWER })
    rewrite(server, change)
    const open = remoteChat({ server })
    const { session, world } = open
    expect(shown([await world.ended((await session.send('one')).answer)])).toEqual([WHOLE])
    await world.until(() => requestsTo(server, FEED).length > 0)
    cut(server, 'over')
    expect(shown([await world.ended((await session.send('two')).answer)])).toEqual([WHOLE])
    // Nothing had to be mended by pages.
    expect(requestsTo(server, PAGES).length).toBe(1)
    // Neither for ever, nor at once and again.
    await world.until(() => requestsTo(server, FEED).length > 1)
    await world.pass(60_000)
    expect(requestsTo(server, FEED).length).toBeLessThan(10)
    await expectInStep(open)
  })
})

describe('25: a feed that is answered with', () => {
  test.each(FEED_ANSWERS)(
    '%s in the middle of a run is asked for with patience, and the run is heard to its end',
    async (_, answer) => {
      let goOn = () => {}
      const held = new Promise<void>((resolve) => {
        goOn = resolve
      })
      const server = scriptedServer({ answer: () => ['Hé', held, 'llo'] })
      const open = remoteChat({ server, world: createWorld({ name: 'hostile' }) })
      const { session, world } = open
      const { answer: promise } = await session.send('one')
      await world.until(() => shown(session.get().messages)[1] === 'Hé')
      const before = server.requests.length
      server.instead = ({ path }) => (path.endsWith('/events') ? answer() : undefined)
      cut(server)
      await world.pass(60_000)
      expect(server.requests.length - before).toBeLessThan(60)
      expect(session.get().messages[1]?.status).toBe('streaming')
      server.instead = undefined
      goOn()
      void session.resync()
      expect(shown([await world.ended(promise)])).toEqual(['Héllo'])
      await expectInStep(open)
    },
  )
})

test('25: a token that is changed in the middle of a run: the feed goes on with the new one', async () => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let token = 1
  const server = scriptedServer({ answer: () => ['Hé', held, 'llo'] })
  let good = 1
  const asked: number[] = []
  server.instead = ({ headers, path }) => {
    if (path.endsWith('/events')) asked.push(world.env.now())
    return headers.get('authorization') === `Bearer ${good}` ? undefined : refusal(401, 'auth')
  }
  // Whoever keeps the token hears of the change only by being asked again.
  const world = createWorld({ name: 'rotated' })
  const open = remoteChat({
    server,
    world,
    headers: async () => {
      const given = token
      token = good
      return { authorization: `Bearer ${given}` }
    },
  })
  const { session, chat } = open
  const { answer } = await session.send('one')
  await world.until(() => shown(session.get().messages)[1] === 'Hé')
  good = 2
  cut(server)
  asked.length = 0
  await world.until(() => asked.length === 2)
  // At once, not after a back-off.
  expect(asked[1]).toBe(asked[0])
  goOn()
  expect(shown([await world.ended(answer)])).toEqual(['Héllo'])
  expect(chat.health.get()).toMatchObject({ connection: 'online', outbox: 0 })
  await expectInStep(open)
})
