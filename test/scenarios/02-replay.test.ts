import { expect, test } from 'vitest'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { expectInStep, openClient, watch } from './client.ts'
import type { Fault, Seen } from './line.ts'
import { ended, pass, type ServerSetup, settle, startServer } from './server.ts'

noStrayRejections()

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** The frames of a piece, as text; the server sends whole ones. */
const framesOf = (bytes: Uint8Array): string[] => decoder.decode(bytes).split(/(?<=\n\n)/)

/** Frames as bytes, some of them twice. */
const twice =
  (again: (frame: string) => boolean) =>
  (bytes: Uint8Array): Uint8Array[] =>
    framesOf(bytes).flatMap((frame) => Array(again(frame) ? 2 : 1).fill(encoder.encode(frame)))

/** Everything a piece says, and then everything again. */
const repeated = (bytes: Uint8Array): Uint8Array[] => [bytes, bytes]

const isFeed = ({ path }: Seen) => path.endsWith('/events')
const isSend = ({ method, path }: Seen) => method === 'POST' && path.endsWith('/messages')

const ways: [name: string, fault: (seen: Seen, n: number) => Fault | undefined][] = [
  [
    'from the beginning, whatever cursor was asked for',
    (seen) => {
      if (isFeed(seen)) seen.headers.delete('last-event-id')
      return undefined
    },
  ],
  ['from the cursor, each piece twice', () => ({ type: 'changed', pieces: repeated })],
  ['with every frame doubled', () => ({ type: 'changed', pieces: twice(() => true) })],
  [
    'with every event doubled that is no delta',
    () => ({ type: 'changed', pieces: twice((frame) => !frame.includes('message.delta')) }),
  ],
  [
    'with every comment doubled',
    () => ({ type: 'changed', pieces: twice((frame) => frame.startsWith(':')) }),
  ],
  ['with every request sent twice', (seen) => (isSend(seen) ? { type: 'doubled' } : undefined)],
]

const answers: ServerSetup = {
  model: scriptedModel(({ messages }) => [`re: ${shown(messages).at(-1)}`, ' ', 'aaa', 'aaa', '!'], {
    chunkSize: 2,
  }),
}

test.each(ways)('2: a run that is told %s is the same rows', async (_, fault) => {
  const server = startServer(answers)
  const client = openClient(server)
  const watched = watch(client)
  client.line.fault = (seen) => fault(seen, client.line.requests.length)
  for (const text of ['one', 'two']) await ended(server, (await client.session.send(text)).answer)
  // Once more from the cursor, in mid-session, and at rest.
  for (let round = 0; round < 3; round++) {
    client.line.cut()
    await pass(server, 2_000)
    if (round === 1) await ended(server, (await client.session.send('three')).answer)
  }
  watched.expectTruthful()
  const messages = await expectInStep(client)
  expect(shown(messages)).toEqual([
    'one',
    're: one aaaaaa!',
    'two',
    're: two aaaaaa!',
    'three',
    're: three aaaaaa!',
  ])
})

test('2: what is known is told again without anybody being told', async () => {
  const server = startServer(answers)
  const client = openClient(server)
  await ended(server, (await client.session.send('one')).answer)
  await pass(server, 2_000)
  const before = client.session.get()
  const writes = client.storage.commits.length
  let told = 0
  client.session.subscribe(() => told++)
  client.line.fault = (seen) => {
    if (isFeed(seen)) seen.headers.delete('last-event-id')
    return undefined
  }
  client.line.cut()
  await pass(server, 2_000)
  await settle(server)
  expect(client.line.requests.filter(isFeed).length).toBeGreaterThan(1)
  expect(client.session.get().messages).toBe(before.messages)
  expect(client.storage.commits.length).toBe(writes)
  // Of the line going down and coming back, and of nothing else.
  expect(told).toBeLessThan(3)
})
