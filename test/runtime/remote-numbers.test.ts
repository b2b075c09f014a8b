import { describe, expect, test } from 'vitest'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { remoteChat } from './remote-chat.ts'
import { json, type Server, scriptedServer } from './scripted-server.ts'

noStrayRejections()

/** A server that numbers its messages from there on. */
function countingFrom(first: number): Server {
  const server = scriptedServer()
  const raised = (text: string) =>
    text.replaceAll(/"seq":(\d+)/g, (_, seq: string) => `"seq":${first + Number(seq)}`)
  server.spoil = (response) => {
    const { headers, status, body } = response
    if (!body) return response
    const through = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) =>
        controller.enqueue(new TextEncoder().encode(raised(new TextDecoder().decode(chunk)))),
    })
    return new Response(body.pipeThrough(through), { headers, status })
  }
  return server
}

test.each([
  ['from one', 0],
  ['by the clock, in milliseconds', 1_790_000_000_000],
  ['by the clock, in microseconds', 1_790_000_000_000_000],
])(
  'what waits is shown last and found again behind a long history whose server counts %s',
  async (_, first) => {
    const server = countingFrom(first)
    const open = remoteChat({ server })
    for (let n = 0; n < 30; n++) await open.world.ended((await open.session.send(`m${n}`)).answer)
    server.online = false
    await open.session.send('waits')
    const { rows } = await open.storage.window('s', { limit: 1 })
    expect(shown(rows.map(({ message }) => message))).toEqual(['waits'])
    await open.chat.close()
    const again = remoteChat({ server, storage: open.storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.pass(100)
    expect(shown(again.session.get().messages).slice(-2)).toEqual(['re: m29', 'waits'])
    server.online = true
    await again.world.until(() => shown(again.session.get().messages).at(-1) === 're: waits')
  },
)

describe('older rows that cannot be read', () => {
  test('are told of, and are not taken for the beginning of the session', async () => {
    const server = scriptedServer()
    const open = remoteChat({ server })
    for (let n = 0; n < 4; n++) await open.world.ended((await open.session.send(`m${n}`)).answer)
    await open.chat.close()
    const room = server.rooms.get('s')
    server.instead = ({ query, method, path }) => {
      if (`${method} ${path}` !== 'GET /sessions/s/messages') return undefined
      if (query.has('before')) return json({ messages: [{ id: '??' }], hasMore: true })
      const messages = [...(room?.messages.values() ?? [])].slice(-2)
      return json({ messages, limited: true, session: room?.session, eventId: '17.t17', rev: room?.rev })
    }
    const again = remoteChat({ server, world: createWorld({ name: 'new' }) })
    await again.world.until(() => shown(again.session.get().messages).includes('re: m3'))
    expect(again.session.get().hasOlder).toBe(true)
    await again.session.loadOlder()
    expect(again.session.get().hasOlder).toBe(true)
    expect(again.chat.health.get()).toMatchObject({ quarantined: 1, lastError: { code: 'protocol' } })
    server.instead = undefined
    await again.session.loadOlder()
    expect(shown(again.session.get().messages)[0]).toBe('m0')
  })
})
