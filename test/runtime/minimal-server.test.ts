import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createChat, memoryStorage, remote, textOf } from 'tidemark'
import { afterEach, expect, test } from 'vitest'
import { minimalServer } from './minimal-server.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(
  answer: (text: string) => readonly string[],
  pause: () => Promise<void> = async () => {},
) {
  const server = minimalServer(answer, pause)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function client(url: string, storage = memoryStorage()) {
  const chat = createChat({ storage, runtime: remote({ url }) })
  closing.push(() => chat.close())
  return chat
}

const shown = (messages: readonly Parameters<typeof textOf>[0][]) =>
  messages.map((message) => textOf(message))

test('a minimal server answers, and a second question follows the first answer', async () => {
  const { url } = await start((text) => ['You said ', `“${text}”.`])
  const session = client(url).session('s')
  const first = await (await session.send('one')).answer
  expect(first).toMatchObject({ status: 'completed', role: 'assistant' })
  expect(textOf(first)).toBe('You said “one”.')
  const second = await (await session.send('two')).answer
  expect(second.parentId).toBe(session.get().messages[2]?.id)
  expect(shown(session.get().messages)).toEqual(['one', 'You said “one”.', 'two', 'You said “two”.'])
  expect(session.get().messages.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  expect(session.get().tidemark).toBe(second.id)
})

test('another device reads the history of a minimal server in its order', async () => {
  const { url } = await start((text) => [`re: ${text}`])
  const writer = client(url).session('s')
  for (const text of ['one', 'two']) await (await writer.send(text)).answer
  const reader = client(url).session('s')
  await expect.poll(() => shown(reader.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
  expect(reader.get().messages.map(({ parentId }) => parentId)).toEqual([
    null,
    ...reader
      .get()
      .messages.slice(0, -1)
      .map(({ id }) => id),
  ])
})

test('what another device has said meanwhile hangs on what was known', async () => {
  const { url } = await start((text) => [`re: ${text}`])
  const writer = client(url).session('s')
  await (await writer.send('one')).answer
  const reader = client(url).session('s')
  await expect.poll(() => shown(reader.get().messages)).toEqual(['one', 're: one'])
  await (await writer.send('two')).answer
  await reader.resync()
  expect(shown(reader.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
  expect(reader.get().messages[2]?.parentId).toBe(reader.get().messages[1]?.id)
})

test('an answer whose connection is lost is not claimed to have ended, and is fetched once it has', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let deltas = 0
  const { server, url } = await start(
    () => ['first half, ', 'second half'],
    async () => {
      if (++deltas === 2) await held
    },
  )
  const session = client(url).session('s')
  const sent = await session.send('go')
  await expect.poll(() => shown(session.get().messages)).toEqual(['go', 'first half, '])
  server.closeAllConnections()
  await expect.poll(() => session.get().status).toBe('running')
  expect(session.get().messages.at(-1)?.status).toBe('streaming')
  release()
  expect(textOf(await sent.answer)).toBe('first half, second half')
  expect(session.get().messages.at(-1)?.status).toBe('completed')
})
