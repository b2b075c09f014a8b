import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { shown } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { temporaryFolder } from '../server/stage.ts'
import { pass as passIn } from '../simulation/act.ts'
import { differences } from '../simulation/converge.ts'
import { type Client, expectInStep, openClient, reload, watch } from './client.ts'
import { ended, pass, type Server, startServer, until } from './server.ts'
import { ended as endedIn, sessionOf, twoTabs } from './two-tabs.ts'

noStrayRejections()

/** What somebody else says in the session while this device is away. */
async function sayElsewhere(server: Server, count: number): Promise<void> {
  const other = openClient(server, { name: 'elsewhere' })
  await until(server, () => other.session.get().messages.length > 0)
  for (let at = 0; at < count; at++) await ended(server, (await other.session.send(`more ${at}`)).answer)
  await other.chat.close()
}

async function away(server: Server, count: number): Promise<Client> {
  const client = openClient(server)
  await ended(server, (await client.session.send('one')).answer)
  await pass(server, 500)
  client.line.online = false
  client.line.cut()
  await sayElsewhere(server, count)
  return client
}

const askedPages = ({ line }: Client) =>
  line.requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/messages'))

/** A server that has a backup without the last message, and a client that has seen it. */
async function backedUp() {
  const folder = temporaryFolder()
  const server = startServer({ store: sqliteStore(`${folder}/live.db`) })
  const client = openClient(server)
  await ended(server, (await client.session.send('kept')).answer)
  const live = new Sqlite(`${folder}/live.db`)
  live.exec(`vacuum into '${folder}/backup.db'`)
  live.close()
  const { id: lost, answer } = await client.session.send('lost with the disk')
  await ended(server, answer)
  await pass(server, 500)
  const restore = async () => {
    server.die()
    client.line.cut()
    await pass(server, 2_000)
    server.store = sqliteStore(`${folder}/backup.db`)
    server.start({ store: server.store })
  }
  return { server, client, lost, restore }
}

describe('9: a device comes back', () => {
  test('after a gap longer than a page: it is read page by page, from the change cursor', async () => {
    const server = startServer({ keepEvents: 2, limits: { page: 3 } })
    const client = await away(server, 6)
    const watched = watch(client)
    const before = askedPages(client).length
    client.line.online = true
    await until(server, () => client.session.get().messages.length === 14)
    watched.expectTruthful()
    const pages = askedPages(client).slice(before)
    expect(pages.length).toBeGreaterThanOrEqual(4)
    const asked = pages.map(({ query }) => Number(query.get('changedSince')))
    expect(asked[0]).toBeGreaterThan(0)
    expect(asked).toEqual([...new Set(asked)].toSorted((a, b) => a - b))
  })

  test('within what is kept: from its cursor, and no page is read', async () => {
    const server = startServer()
    const client = await away(server, 6)
    const before = askedPages(client).length
    client.line.online = true
    await expectInStep(client)
    expect(askedPages(client).length).toBe(before)
  })

  test('with a cursor from the future, to a server restored from a backup: what that one has stands', async () => {
    const { server, client, restore } = await backedUp()
    await restore()
    // As many events as the client knows already, of which not one is the same.
    await sayElsewhere(server, 2)
    await until(server, () => client.session.get().connection === 'online')
    await ended(server, (await client.session.send('and on')).answer)
    const { messages } = client.session.get()
    expect(shown(messages).slice(-2)).toEqual(['and on', 're: and on'])
    expect(shown(messages)).toEqual(expect.arrayContaining(['kept', 're: kept', 'more 0', 're: more 1']))
    const { messages: truth } = await (await server.ask('GET', '/sessions/s/messages?limit=50')).json()
    expect(messages.filter(({ id }) => truth.some((row: { id: string }) => row.id === id))).toEqual(truth)
  })

  test('by a page, to a server restored from a backup that has gone on for longer: what that one has stands', async () => {
    const { server, client, restore } = await backedUp()
    await restore()
    client.line.online = false
    client.line.cut()
    // Until its revisions are further than those that the client knows.
    await sayElsewhere(server, 3)
    // Asked for before a feed is opened.
    const looked = client.session.resync()
    client.line.online = true
    await until(server, () => client.session.get().connection === 'online')
    await looked
    await expectInStep(client)
    const { messages } = client.session.get()
    expect(shown(messages).slice(0, 3)).toEqual(['kept', 're: kept', 'more 0'])
    expect(shown(messages)).not.toContain('lost with the disk')
  })

  test('with words behind a message that the backup has lost: they are said where it stood', async () => {
    const { server, client, lost, restore } = await backedUp()
    const { line, session } = client
    line.online = false
    line.cut()
    await session.send('behind it')
    await session.edit(lost, 'instead of it')
    await restore()
    line.online = true
    // Whichever goes out before the loss is noticed is refused first.
    await until(server, () => shown(session.get().messages).includes('re: instead of it'))
    await expectInStep(client)
    const { messages } = session.get()
    expect(shown(messages)).toEqual(
      expect.arrayContaining(['kept', 're: kept', 're: behind it', 're: instead of it']),
    )
    expect(shown(messages)).not.toContain('lost with the disk')
  })

  test('with more than a page loads that the backup has lost: nothing of it stays, seen or unseen', async () => {
    const { server, client, restore } = await backedUp()
    for (let at = 0; at < 26; at++) await ended(server, (await client.session.send(`lost ${at}`)).answer)
    client.line.online = false
    client.line.cut()
    await client.session.send('behind them')
    await restore()
    const again = await reload(client, 'again')
    await until(server, () => shown(again.session.get().messages).includes('re: behind them'))
    await expectInStep(again)
    await again.session.loadOlder()
    const left = ['kept', 're: kept', 'behind them', 're: behind them']
    expect(shown(again.session.get().messages)).toEqual(left)
    const { rows } = await again.storage.window('s', { limit: 1_000 })
    expect(shown(rows.map(({ message }) => message))).toEqual(left)
  })

  test.each([
    ['of which one leads', true],
    ['that no lock keeps apart', false],
  ])('in two tabs %s, to a server put back in mid-answer: both show what that one has', async (_, locks) => {
    const { world, first, open } = twoTabs({ locks })
    const tabs = [first, open()]
    const wait = (ms: number) => passIn(world, ms, () => undefined)
    await wait(500)
    const sending = sessionOf(first).send('one')
    await wait(150)
    world.server.backup()
    const { answer } = await sending
    await endedIn(world, answer)
    await wait(500)
    for (const tab of tabs) expect(sessionOf(tab).get().messages[1]?.status).toBe('completed')
    world.truth.refresh()
    world.truth.restored(world.server.restore()[0] ?? '')
    await wait(60_000)
    // The end that the answer has now has the revision of the one that was lost.
    for (const tab of tabs) expect(sessionOf(tab).get().messages[1]?.status).toBe('interrupted')
    expect(await differences(world)).toEqual([])
  })
})
