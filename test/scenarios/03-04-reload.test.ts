import { expect, test } from 'vitest'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { type Client, expectInStep, openClient, reload, watch } from './client.ts'
import type { Seen } from './line.ts'
import { ended, pass, startServer, until } from './server.ts'

noStrayRejections()

const WHOLE = 'Told in very small pieces 😀.'
const isPage = ({ method, path }: Seen) => method === 'GET' && path.endsWith('/messages')

/** When the history is asked for: before the feed is opened, while it speaks, or after it has said all. */
const moments: [name: string, load: (client: Client) => Promise<unknown>][] = [
  [
    'before',
    async ({ session, line, server }) => {
      let arrived = () => {}
      const history = new Promise<void>((resolve) => {
        arrived = resolve
      })
      // The feed waits until the history is there.
      line.fault = ({ path }) => (path.endsWith('/events') ? { type: 'late', until: history } : undefined)
      const done = session.loadOlder()
      await pass(server, 50)
      arrived()
      return done
    },
  ],
  [
    'while',
    async ({ session, line, server }) => {
      let arrive = () => {}
      const said = new Promise<void>((resolve) => {
        arrive = resolve
      })
      // The page is as old as the moment at which it was asked for, and arrives when the feed has gone on.
      line.fault = (seen) => (isPage(seen) ? { type: 'late', until: said, where: 'after' } : undefined)
      const done = session.resync()
      await pass(server, 400)
      arrive()
      return done
    },
  ],
  [
    'after',
    async ({ session, server }) => {
      await until(server, () => session.get().status === 'ready')
      return session.resync()
    },
  ],
]

test.each(moments)(
  '3: reloaded at any moment of a run, the history loaded %s it resumes, a page shows the whole run once',
  async (name, load) => {
    for (let turns = 0; turns < 60; turns += 3) {
      const world = createWorld({ name: `${name}-${turns}` })
      const model = scriptedModel(() => WHOLE, { chunkSize: 3, pace: () => world.env.sleep(8) })
      const server = startServer({ world, model, batch: 5 })
      const first = openClient(server, { name: 'first' })
      const sent = await first.session.send('go')
      expect(sent.saved).toBe('disk')
      await idle(turns)
      await pass(server, turns * 3)
      const before = shown(first.session.get().messages).at(-1) ?? ''
      const again = await reload(first, 'again')
      const watched = watch(again)
      await ended(server, load(again))
      await until(server, () => again.session.get().messages.at(-1)?.status === 'completed')
      watched.expectTruthful()
      const messages = await expectInStep(again)
      expect(shown(messages)).toEqual(['go', WHOLE])
      if (before !== 'go') expect(WHOLE.startsWith(before)).toBe(true)
      await again.chat.close()
    }
  },
  120_000,
)

test('4: while the newest stored row belongs to the turn before, a resumed run goes into its own message', async () => {
  const world = createWorld()
  const model = scriptedModel((_, call) => (call === 0 ? 'The first answer.' : 'The second, later.'), {
    chunkSize: 4,
    pace: () => world.env.sleep(10),
  })
  const server = startServer({ world, model })
  const first = openClient(server, { name: 'first' })
  await ended(server, (await first.session.send('one')).answer)
  await pass(server, 500)
  // Told to the server, and nothing of it stored: neither its answer nor that it was accepted.
  first.storage.fail(() => true)
  await first.session.send('two')
  await until(server, () => shown(first.session.get().messages).at(-1)?.startsWith('The s') === true)
  const { rows } = await first.storage.reopen().window('s', { limit: 9 })
  expect(shown(rows.map(({ message }) => message))).toEqual(['one', 'The first answer.'])
  const again = await reload(first, 'again')
  const watched = watch(again)
  await until(server, () => again.session.get().messages.length === 4)
  await until(server, () => again.session.get().status === 'ready')
  watched.expectTruthful()
  expect(shown(await expectInStep(again))).toEqual(['one', 'The first answer.', 'two', 'The second, later.'])
})
