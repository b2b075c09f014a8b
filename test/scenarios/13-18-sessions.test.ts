import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, openClient, watch } from './client.ts'
import type { Seen } from './line.ts'
import { ended, pass, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const isFeed = ({ path }: Seen) => path.endsWith('/events')

test('13: another answer comes over the feed that told the first one, and each stays its own', async () => {
  const model = scriptedModel((_, call) => [`answer ${call} `, 'aa', 'aa', `, ${call}`], { chunkSize: 2 })
  const server = startServer({ model })
  const client = openClient(server)
  await ended(server, (await client.session.send('one')).answer)
  await pass(server, 200)
  const feeds = client.line.requests.filter(isFeed).length
  const watched = watch(client)
  const [question, first] = client.session.get().messages
  for (const call of [1, 2]) {
    const again = await client.session.regenerate(client.session.get().messages[1]?.id ?? '')
    expect(shown([await ended(server, again.answer)])).toEqual([`answer ${call} aaaa, ${call}`])
  }
  expect(client.line.requests.filter(isFeed).length).toBe(feeds)
  expect(client.line.lasting()).toBe(1)
  watched.expectTruthful()
  const messages = await expectInStep(client)
  expect(shown(messages)).toEqual(['one', ...[0, 1, 2].map((call) => `answer ${call} aaaa, ${call}`)])
  expect(new Set(messages.slice(1).map(({ parentId }) => parentId))).toEqual(new Set([question?.id]))
  expect(client.session.branches(first?.id ?? '').length).toBe(3)
})

test('13: asked for offline, another answer is awaited at once, and had when the line is back', async () => {
  const server = startServer({ model: scriptedModel((_, call) => `answer ${call}`) })
  const client = openClient(server)
  await ended(server, (await client.session.send('one')).answer)
  await pass(server, 200)
  client.line.online = false
  client.line.cut()
  const again = await client.session.regenerate(client.session.get().messages[1]?.id ?? '')
  expect(client.session.get().status).toBe('running')
  expect(shown(client.session.get().messages)).toEqual(['one'])
  await pass(server, 5_000)
  client.line.online = true
  expect(shown([await ended(server, again.answer)])).toEqual(['answer 1'])
  await expectInStep(client)
  expect(client.session.get().status).toBe('ready')
})

test('18: whoever switches between sessions at random, with a run in each, mixes nothing up', async () => {
  const world = createWorld()
  const names = Array.from({ length: 7 }, (_, at) => `s${at}`)
  const model = scriptedModel(
    ({ messages }) => Array.from({ length: 6 }, (_, at) => `${textOf(messages.at(-1) as never)}.${at} `),
    { pace: () => world.env.sleep(40) },
  )
  const server = startServer({ world, model })
  const client = openClient(server, { session: 's0' })
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const said = new Map(names.map((name) => [name, 0]))
  for (let step = 0; step < 60; step++) {
    const name = names[random(names.length)] ?? ''
    const session = client.chat.session(name)
    const count = said.get(name) ?? 0
    if (count < 3 && random(3) === 0) {
      said.set(name, count + 1)
      await session.send(`${name}q${count}`)
    }
    await pass(server, random(60))
    for (const text of shown(session.get().messages)) if (text !== '') expect(text).toContain(name)
  }
  for (const name of names) {
    const session = client.chat.session(name)
    const count = said.get(name) ?? 0
    await until(server, () => session.get().messages.length === 2 * count && session.get().status === 'ready')
    const expected = Array.from({ length: count }, (_, q) => [
      `${name}q${q}`,
      Array.from({ length: 6 }, (_, at) => `${name}q${q}.${at} `).join(''),
    ]).flat()
    expect(shown(session.get().messages)).toEqual(expected)
    if (count > 0) expect(shown((await truthOf(server, name)).messages)).toEqual(expected)
  }
  // A browser has six connections to a server that speaks HTTP/1.1.
  expect(client.line.open()).toBeLessThan(6)
})
