import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { type RemoteChat, remoteChat } from '../runtime/remote-chat.ts'
import { say } from '../runtime/scripted-routes.ts'
import { cursorOf, json, moveHead, openRoom, scriptedServer } from '../runtime/scripted-server.ts'
import { likeBrowser } from './browser-tabs.ts'
import { type DirectChat, directChat, shown } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

/** Answers that are asked for until those before them are not among the newest fifty. */
const MANY = 60

/** A question with an answer that was followed by a word, and many other answers after that. Only the newest is shown. */
async function manyAnswers(storage = watchedStorage()) {
  const open = directChat({ storage, world: createWorld({ name: 'first' }) })
  const { session } = open
  for (const text of ['one', 'two']) await (await session.send(text)).answer
  const old = session.get().messages.map(({ id }) => id)
  for (let n = 0; n < MANY; n++) await (await session.regenerate(old[1] ?? '')).answer
  await idle()
  return { ...open, end: old[3] ?? '', newest: session.get().messages[1]?.id ?? '' }
}

const OLD = ['one', 're: one', 'two', 're: two']

const reads = ({ session, world }: DirectChat | RemoteChat, texts: string[]) =>
  world.until(() => JSON.stringify(shown(session.get().messages)) === JSON.stringify(texts))

test('a chat opens with the branch that was chosen, however much was said in others since', async () => {
  const { chat, session, storage, end } = await manyAnswers()
  await session.selectBranch(end)
  await idle()
  await chat.close()
  const again = directChat({ storage: storage.reopen(), world: createWorld({ name: 'again' }) })
  await again.world.until(() => again.session.get().status === 'ready')
  expect(shown(again.session.get().messages)).toEqual(OLD)
  await (await again.session.send('three')).answer
  expect(shown(again.session.get().messages)).toEqual([...OLD, 'three', 're: three'])
  expect(again.model.calls[0]?.context.messages.length).toBe(5)
})

test('of a first question that was edited after a long talk, the first version is found again', async () => {
  const open = directChat()
  for (let n = 0; n < MANY / 2; n++) await (await open.session.send(`${n}`)).answer
  const first = open.session.get().messages[0]?.id ?? ''
  const edited = await open.session.edit(first, 'anew')
  await edited.answer
  await idle()
  await open.chat.close()
  const again = directChat({ storage: open.storage.reopen(), world: createWorld({ name: 'again' }) })
  await again.world.until(() => again.session.get().status === 'ready')
  expect(shown(again.session.get().messages)).toEqual(['anew', 're: anew'])
  while (again.session.get().hasOlder) await again.session.loadOlder()
  expect(again.session.branches(edited.id)).toEqual([first, edited.id])
  await again.session.selectBranch(first)
  expect(again.session.get().messages.length).toBe(MANY)
})

test('a chat opens with what there is where the branch that was chosen is lost', async () => {
  const { chat, session, storage, end } = await manyAnswers()
  await session.selectBranch(end)
  await idle()
  await storage.commit([{ type: 'deleteMessage', id: end }])
  await chat.close()
  const again = directChat({ storage: storage.reopen(), world: createWorld({ name: 'again' }) })
  await again.world.until(() => again.session.get().status === 'ready')
  expect(shown(again.session.get().messages)).toEqual(['one', 're: one'])
})

test('an old branch that is chosen in one tab is shown in the others, which had not read so far', async () => {
  const { chat, storage, end, newest } = await manyAnswers(watchedStorage(memoryStorage(), likeBrowser()))
  await chat.close()
  const first = directChat({ storage: storage.reopen(), world: createWorld({ name: 'leads' }) })
  await idle()
  const second = directChat({ storage: storage.reopen(), world: createWorld({ name: 'follows' }) })
  await idle()
  expect(first.session.message(end).get()).toBeUndefined()
  await second.session.loadOlder()
  await second.session.selectBranch(end)
  for (const tab of [second, first]) await reads(tab, OLD)
  const third = directChat({ storage: storage.reopen(), world: createWorld({ name: 'comes' }) })
  await reads(third, OLD)
  await third.session.selectBranch(newest)
  for (const tab of [first, second, third]) await reads(tab, ['one', 're: one'])
})

/** A server on which a question has an old answer that was followed by a word, and many others. */
function manySaid() {
  const server = scriptedServer()
  const room = openRoom(server, 's')
  say(server, room, 'one', null)
  say(server, room, 'old', 'one')
  for (let n = 0; n < MANY; n++) say(server, room, `m${n}`, n === 0 ? 'one' : `m${n - 1}`)
  return { server, room }
}

const ids = ({ session }: RemoteChat) => session.get().messages.map(({ id }) => id)

test('an old branch that is chosen on another device is read from what is stored', async () => {
  const { server, room } = manySaid()
  const first = remoteChat({ server })
  await first.world.until(() => ids(first).length === MANY + 1)
  await first.world.pass(300)
  await first.chat.close()
  const open = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
  await open.world.until(() => open.session.get().connection === 'online')
  expect(ids(open).length).toBe(50)
  moveHead(server, room, 'old')
  await open.world.until(() => ids(open).join() === 'one,old')
})

/** The server keeps no more than what was said last, for those who ask what has changed. */
function forgets({ server, room }: ReturnType<typeof manySaid>) {
  server.options.pageSize = 20
  server.instead = ({ query }) => {
    if (!query.has('changedSince')) return undefined
    const messages = [...room.messages.values()].slice(-5)
    const { session, rev } = room
    return json({
      messages,
      hasMore: false,
      limited: true,
      eventId: cursorOf(room),
      rev,
      deleted: [],
      session,
    })
  }
}

test('an old branch that is stored nowhere here comes from the server, page by page', async () => {
  const said = manySaid()
  const { server, room } = said
  moveHead(server, room, 'old')
  forgets(said)
  const open = remoteChat({ server })
  await open.world.until(() => ids(open).join() === 'old')
  expect(open.session.get().hasOlder).toBe(true)
  await open.world.ended(open.session.loadOlder())
  expect(ids(open)).toEqual(['one', 'old'])
  expect(open.session.get().hasOlder).toBe(false)
})

test('what is older than what is shown is found, though others spoke in between', async () => {
  const said = manySaid()
  const { server, room } = said
  say(server, room, 'late', 'old')
  forgets(said)
  const open = remoteChat({ server })
  await open.world.until(() => ids(open).join() === 'late')
  await open.world.ended(open.session.loadOlder())
  expect(ids(open)).toEqual(['one', 'old', 'late'])
})

test('a server that does not know what is asked of it is not asked for ever', async () => {
  const said = manySaid()
  const { server, room } = said
  say(server, room, 'late', 'old')
  forgets(said)
  const open = remoteChat({ server })
  await open.world.until(() => ids(open).join() === 'late')
  server.instead = ({ query }) =>
    query.has('before') ? json({ messages: [room.messages.get('m3')], hasMore: true }) : undefined
  const before = server.requests.length
  await open.world.ended(open.session.loadOlder())
  expect(server.requests.length).toBe(before + 2)
})
