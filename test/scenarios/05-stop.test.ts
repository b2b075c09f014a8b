import { expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { ending } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { type Client, expectInStep, openClient, reload } from './client.ts'
import { createBrowser } from './page.ts'
import { pass, type Server, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const WHOLE = 'An answer that is stopped somewhere.'

function slowServer(name: string): Server {
  const world = createWorld({ name })
  const model = scriptedModel(() => WHOLE, { chunkSize: 4, pace: () => world.env.sleep(10) })
  return startServer({ world, model, batch: 5 })
}

const answerIn = (messages: readonly Message[]) => messages.find(({ role }) => role === 'assistant')

/** However the race between the stop and the run ended, both sides say so, and the text is as far as it came. */
async function expectStopped(client: Client): Promise<void> {
  const answer = answerIn(await expectInStep(client))
  if (!answer) return
  expect(WHOLE.startsWith(textOf(answer))).toBe(true)
  expect(['interrupted', 'completed']).toContain(answer.status)
  if (answer.status === 'completed') expect(textOf(answer)).toBe(WHOLE)
  expect(client.session.get().status).toBe('ready')
}

test('5: stopped at any moment, the text so far is kept, and nothing of the run is shown after that', async () => {
  let partial = 0
  for (let turns = 0; turns < 50; turns += 2) {
    const server = slowServer(`stop-${turns}`)
    const client = openClient(server)
    const sent = await client.session.send('go')
    const outcome = ending(sent.answer)
    await idle(turns)
    await pass(server, turns * 3)
    const stopping = client.session.stop()
    const before = answerIn(client.session.get().messages)
    await stopping
    const grew: string[] = []
    client.session.subscribe(() => {
      const now = answerIn(client.session.get().messages)
      if (now?.status === 'streaming' && textOf(now) !== (before ? textOf(before) : ''))
        grew.push(textOf(now))
    })
    await until(server, () => client.chat.health.get().outbox === 0)
    await pass(server, 2_000)
    expect(grew).toEqual([])
    await expectStopped(client)
    const answer = answerIn((await truthOf(server)).messages)
    if (answer && answer.status === 'interrupted' && textOf(answer) !== '') partial++
    if (before && answer) expect(textOf(answer).startsWith(textOf(before))).toBe(true)
    // Whoever waited for the answer is told: it is there, or there is none.
    expect(answer ?? 'aborted').toEqual(await outcome)
    await client.chat.close()
  }
  expect(partial).toBeGreaterThan(3)
}, 120_000)

test('5: another tab stops a run; both show what the server says of it', async () => {
  for (const ms of [0, 20, 60, 200]) {
    const server = slowServer(`tab-${ms}`)
    const storage = watchedStorage(memoryStorage(), 'shared')
    const browser = createBrowser()
    const first = openClient(server, { name: 'first', storage, page: browser.page() })
    await idle()
    const second = openClient(server, { name: 'second', storage: storage.reopen(), page: browser.page() })
    await first.session.send('go')
    await pass(server, ms)
    await until(server, () => second.session.get().messages.length > 0)
    await second.session.stop()
    await until(server, () => first.chat.health.get().outbox + second.chat.health.get().outbox === 0)
    await pass(server, 1_000)
    await expectStopped(first)
    await expect.poll(() => second.session.get().messages).toEqual(first.session.get().messages)
    await first.chat.close()
    await second.chat.close()
  }
})

test('5: a page that was reloaded in mid-answer stops the run that it did not begin', async () => {
  for (const ms of [0, 40, 120]) {
    const server = slowServer(`reload-${ms}`)
    const first = openClient(server, { name: 'first' })
    await first.session.send('go')
    await pass(server, ms)
    const again = await reload(first, 'again')
    await idle(ms / 4)
    await again.session.stop()
    await until(server, () => again.chat.health.get().outbox === 0)
    await pass(server, 1_000)
    await expectStopped(again)
    await again.chat.close()
  }
})
