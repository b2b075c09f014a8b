import { expect, test } from 'vitest'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown, statuses } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { type Client, expectInStep, openClient, reload } from './client.ts'
import { pass, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const WHOLE = 'It goes on, whoever listens.'

/** How a reader leaves in mid-answer. */
const ways: [name: string, leave: (client: Client) => unknown][] = [
  ['a tab that is closed', ({ chat }) => chat.close()],
  ['a page that is gone without a word', (client) => reload(client, 'gone')],
  [
    'a lid that is shut',
    ({ line }) => {
      line.online = false
    },
  ],
  ['a proxy that hangs up', ({ line }) => line.cut()],
]

test.each(ways)('6, stop is not disconnect: %s does not cancel the run', async (_, leave) => {
  for (const ms of [0, 15, 60]) {
    const world = createWorld()
    const model = scriptedModel(() => WHOLE, { chunkSize: 4, pace: () => world.env.sleep(10) })
    const server = startServer({ world, model })
    const client = openClient(server)
    await client.session.send('go')
    await until(server, () =>
      client.line.requests.some(({ method, path }) => method === 'POST' && /mess/.test(path)),
    )
    await pass(server, ms)
    await leave(client)
    await pass(server, 2_000)
    const { messages } = await truthOf(server)
    expect(shown(messages)).toEqual(['go', WHOLE])
    expect(statuses(messages)).toEqual(['user completed', 'assistant completed'])
    const other = openClient(server, { name: 'other' })
    expect(shown(await expectInStep(other))).toEqual(['go', WHOLE])
    await other.chat.close()
    await client.chat.close()
  }
})
