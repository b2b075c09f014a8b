import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { ending, shown } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { noStrayRejections } from '../chat/world.ts'
import { type Client, openClient } from './client.ts'
import { createBrowser } from './page.ts'
import { ended, pass, type Server, startServer } from './server.ts'

noStrayRejections()

/** Something that another device says. */
async function sayElsewhere(server: Server, text: string, parentId: string | null = null): Promise<void> {
  await server.ask('POST', '/sessions', { id: 's' })
  const body = { id: `e-${text}`, runId: `r-${text}`, parentId, content: [{ type: 'text', text }] }
  await server.ask('POST', '/sessions/s/messages', body)
  await pass(server, 500)
}

/** What a session shows at the very moment at which it says that everything is there. */
async function shownAfter({ session, server }: Client): Promise<string[]> {
  let seen: string[] = []
  const note = () => {
    seen = shown(session.get().messages)
  }
  await ended(server, session.resync().then(note))
  return seen
}

describe('what is asked for by resync() is there when it resolves', () => {
  test('right after the session was opened', async () => {
    const server = startServer()
    await sayElsewhere(server, 'hello')
    const client = openClient(server, { page: createBrowser().page() })
    expect(await shownAfter(client)).toEqual(['hello', 're: hello'])
  })

  test('in a tab that another one leads the session for, though that one hears nothing', async () => {
    const server = startServer()
    await sayElsewhere(server, 'hello')
    const storage = watchedStorage(memoryStorage(), 'shared')
    const browser = createBrowser()
    const first = openClient(server, { name: 'one', storage, page: browser.page() })
    await pass(server, 1_000)
    const second = openClient(server, { name: 'two', storage: storage.reopen(), page: browser.page() })
    await pass(server, 1_000)
    first.line.online = false
    first.line.cut()
    await sayElsewhere(server, 'news', 'e-hello')
    expect(shown(second.session.get().messages)).toEqual(['hello', 're: hello'])
    expect(await shownAfter(second)).toEqual(['hello', 're: hello', 'news', 're: news'])
    second.line.fault = () => ({ type: 'instead', response: () => new Response('', { status: 403 }) })
    expect(await ended(server, ending(second.session.resync()))).toBe('auth')
    second.line.fault = () => ({ type: 'lost' })
    let over = false
    const late = second.session.resync().then(() => {
      over = true
    })
    await pass(server, 20_000)
    expect(over).toBe(false)
    second.line.fault = undefined
    await ended(server, late)
    // The one that leads moves the cursors, and has the same in the end.
    first.line.online = true
    first.page.window('online')
    await pass(server, 2_000)
    const rows = (await storage.window('s', { limit: 50 })).rows.map(({ message }) => message)
    for (const { session } of [first, second]) {
      expect(shown(session.get().messages)).toEqual(['hello', 're: hello', 'news', 're: news'])
      expect(session.get().messages).toEqual(rows)
    }
  })
})
