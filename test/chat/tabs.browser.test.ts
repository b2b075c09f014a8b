import { Dexie } from 'dexie'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import { platformEnv } from '../../src/lib/env.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { direct } from '../../src/runtime/direct.ts'
import { dexieStorage } from '../../src/storage/dexie.ts'
import {
  createHold,
  type Script,
  type ScriptedModel,
  scriptedModel,
} from '../../src/testing/scripted-model.ts'

const stray: unknown[] = []
addEventListener('unhandledrejection', ({ reason }) => stray.push(reason))
afterEach(() => expect(stray.splice(0)).toEqual([]))

interface Tab {
  chat: Chat
  session: ChatSession
  model: ScriptedModel
}

const echo: Script = ({ messages }) => `re: ${messages.map((message) => textOf(message)).at(-1)}`

const leads = async (name: string) => {
  const { held = [], pending = [] } = await navigator.locks.query()
  const ours = (locks: LockInfo[]) =>
    locks.filter((lock) => lock.name === `tidemark:default/${name}:s`).length
  return { held: ours(held), waiting: ours(pending) }
}

/** Opens tabs of one database, one after the other, in one page: locks and channels do not know the difference. */
function tabs(steps: Script = echo) {
  const name = `tidemark-test-${platformEnv.createId()}`
  onTestFinished(() => Dexie.delete(name))
  const open = (): Tab => {
    const model = scriptedModel(steps, { chunkSize: 2 })
    const chat = createChat({ storage: dexieStorage(name), runtime: direct({ model }) })
    onTestFinished(() => chat.close())
    return { chat, session: chat.session('s'), model }
  }
  return { name, open }
}

const shown = (messages: readonly Message[]) => messages.map((message) => textOf(message))
const texts = ({ session }: Tab) => shown(session.get().messages)

test('only one of two tabs leads, and both show the same, whichever is spoken in', async () => {
  const { name, open } = tabs()
  const first = open()
  await expect.poll(() => leads(name)).toEqual({ held: 1, waiting: 0 })
  const second = open()
  await expect.poll(() => leads(name)).toEqual({ held: 1, waiting: 1 })
  const sent = await second.session.send('from the second')
  expect(sent.saved).toBe('disk')
  expect(textOf(await sent.answer)).toBe('re: from the second')
  await first.session.send('from the first')
  const all = ['from the second', 're: from the second', 'from the first', 're: from the first']
  await expect.poll(() => texts(first)).toEqual(all)
  await expect.poll(() => texts(second)).toEqual(all)
  await expect.poll(() => second.session.get().messages).toEqual(first.session.get().messages)
  expect([first.model.calls.length, second.model.calls.length]).toEqual([2, 0])
  await expect.poll(() => second.chat.sessions.get().map(({ id }) => id)).toEqual(['s'])
})

test('closing the leading tab hands over: what waits is sent once, what was cut off is interrupted', async () => {
  const { name, open } = tabs(({ messages }) =>
    shown(messages).at(-1) === 'one' ? ['half an answer', { stall: true }] : echo({ messages }, 0),
  )
  const first = open()
  await expect.poll(() => leads(name)).toEqual({ held: 1, waiting: 0 })
  const second = open()
  await first.session.send('one')
  await expect.poll(() => texts(second)).toEqual(['one', 'half an answer'])
  const two = await second.session.send('two')
  await first.chat.close()
  expect(textOf(await two.answer)).toBe('re: two')
  expect(texts(second)).toEqual(['one', 'half an answer', 'two', 're: two'])
  expect(second.session.get().messages[1]?.status).toBe('interrupted')
  expect([first.model.calls.length, second.model.calls.length]).toEqual([1, 1])
  await expect.poll(() => leads(name)).toEqual({ held: 1, waiting: 0 })
})

test('three tabs that speak at once lose nothing and ask once', async () => {
  const { open } = tabs()
  const first = open()
  await (await first.session.send('begin')).answer
  const all = [first, open(), open()]
  for (const tab of all) await expect.poll(() => texts(tab)).toEqual(['begin', 're: begin'])
  const sent = await Promise.all(all.map(({ session }, at) => session.send(`tab ${at}`)))
  for (const [at, { answer }] of sent.entries()) expect(textOf(await answer)).toBe(`re: tab ${at}`)
  for (const tab of all) {
    await expect.poll(() => texts(tab).length).toBe(8)
    for (const { id } of sent)
      await expect.poll(() => tab.session.message(id).get()?.status).toBe('completed')
  }
  expect(all.reduce((sum, { model }) => sum + model.calls.length, 0)).toBe(4)
})

test('a tab that is opened in mid-answer shows it, and does not touch it', async () => {
  const hold = createHold()
  const { open } = tabs([['half ', hold, 'whole']])
  const first = open()
  await first.session.send('one')
  await expect.poll(() => texts(first)).toEqual(['one', 'half '])
  const second = open()
  await expect.poll(() => texts(second)).toEqual(['one', 'half '])
  expect(second.session.get().messages[1]?.status).toBe('streaming')
  hold.release()
  await expect.poll(() => texts(second)).toEqual(['one', 'half whole'])
  await expect.poll(() => second.session.get().messages[1]?.status).toBe('completed')
})

test('a hidden page is told of changes all the same, and stores them', async () => {
  const { name, open } = tabs()
  const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  const frames = vi.spyOn(globalThis, 'requestAnimationFrame').mockImplementation(() => 0)
  onTestFinished(() => {
    visibility.mockRestore()
    frames.mockRestore()
  })
  const { session } = open()
  const seen: string[] = []
  session.subscribe(() => seen.push(shown(session.get().messages).join('|')))
  await (await session.send('one')).answer
  await expect.poll(() => seen.at(-1)).toBe('one|re: one')
  const storage = dexieStorage(name)
  const { rows } = await storage.window('s', { limit: 9 })
  expect(shown(rows.map(({ message }) => message))).toEqual(['one', 're: one'])
  await storage.close()
})

test('a page that is hidden between asking for a frame and getting it is told, too', async () => {
  const { open } = tabs()
  const frames = vi.spyOn(globalThis, 'requestAnimationFrame').mockImplementation(() => 7)
  onTestFinished(() => frames.mockRestore())
  const { session } = open()
  let told = 0
  session.subscribe(() => told++)
  await (await session.send('one')).answer
  await expect.poll(() => told).toBeGreaterThan(0)
  expect(frames).toHaveBeenCalled()
})

test('hiding the page writes at once what was only collected', async () => {
  const hold = createHold()
  const { name, open } = tabs([['half ', hold]])
  const { session } = open()
  await session.send('one')
  await expect.poll(() => shown(session.get().messages)).toEqual(['one', 'half '])
  document.dispatchEvent(new Event('freeze'))
  const storage = dexieStorage(name)
  await expect
    .poll(async () => shown((await storage.window('s', { limit: 9 })).rows.map(({ message }) => message)))
    .toEqual(['one', 'half '])
  await storage.close()
  hold.release()
})
