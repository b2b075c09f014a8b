import { expect } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Change, ChatStorage } from '../../src/chat/ports.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import { formatSse } from '../../src/lib/sse.ts'
import type { Message, Session } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { remote } from '../../src/runtime/remote.ts'
import { seen } from '../support/seen.ts'

const SESSION: Session = { id: 's', createdAt: 1, updatedAt: 1, metadata: {}, headId: null, v: 1 }

/** The n-th message of a long conversation, from 1. */
export const nth = (n: number): Message => ({
  id: `m${n}`,
  sessionId: 's',
  role: n % 2 ? 'user' : 'assistant',
  parentId: n > 1 ? `m${n - 1}` : null,
  status: 'completed',
  content: [{ type: 'text', text: `message ${n}` }],
  seq: n,
  rev: n,
  createdAt: 1,
  updatedAt: 1,
  v: 1,
})

interface Asked {
  id: string
  runId: string
  parentId: string | null
  content: { type: 'text'; text: string }[]
}

/** Numbers for events, and revisions. */
interface Counter {
  event: number
  revision: number
}

/** The events that answer a question with these pieces, as they go over the line. */
function burst({ id, runId, parentId, content }: Asked, said: readonly string[], counter: Counter): string {
  const frame = (type: string, data: object) =>
    formatSse({ event: type, id: `${++counter.event}.t`, data: JSON.stringify(data) })
  const row = (fields: object) => {
    const rev = ++counter.revision
    return { sessionId: 's', createdAt: 2, updatedAt: 2, v: 1, seq: rev, rev, ...fields }
  }
  const question = row({ id, role: 'user', parentId, status: 'completed', content })
  const answer = row({
    id: `a-${id}`,
    role: 'assistant',
    parentId: id,
    runId,
    content: [],
    status: 'streaming',
  })
  const events = [
    frame('message.created', { message: question }),
    frame('message.created', { message: answer }),
  ]
  let offset = 0
  for (const delta of said) {
    events.push(frame('message.delta', { id: `a-${id}`, index: 0, delta, offset }))
    offset += delta.length
  }
  const whole = [{ type: 'text', text: said.join('') }]
  const message = { ...answer, status: 'completed', content: whole, rev: ++counter.revision }
  events.push(frame('message.completed', { message }), frame('run.finished', { runId, outcome: 'completed' }))
  return events.join('')
}

/** A server that knows one session, and answers each question with these pieces, sent as one burst of bytes. */
function server(pieces: (asked: string) => readonly string[]): typeof fetch {
  const counter: Counter = { event: 0, revision: 0 }
  const json = (value: unknown, status = 200) =>
    new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } })
  return async (input, init = {}) => {
    const { pathname } = new URL(String(input), 'http://server')
    if (init.method === 'POST' && pathname.endsWith('/messages')) {
      const asked: Asked = JSON.parse(String(init.body))
      const bytes = new TextEncoder().encode(burst(asked, pieces(asked.content[0]?.text ?? ''), counter))
      return new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
    }
    if (init.method === 'POST') return json(SESSION, 201)
    // Neither feed nor pages: what came on the request is all there is.
    return json({ error: { code: 'not-found', message: 'no such route' } }, 404)
  }
}

export interface Large {
  chat: Chat
  session: ChatSession
}

export function largeChat(
  storage: ChatStorage,
  pieces: (asked: string) => readonly string[] = (asked) => [asked],
): Large {
  const chat = createChat({ storage, runtime: remote({ url: 'http://server', fetch: server(pieces) }) })
  return { chat, session: chat.session('s') }
}

/** Stores a conversation of so many messages, in chunks. */
export async function fill(storage: ChatStorage, count: number): Promise<void> {
  const CHUNK = 2_000
  for (let from = 1; from <= count; from += CHUNK) {
    const changes = Array.from({ length: Math.min(CHUNK, count - from + 1) }, (_, i): Change => {
      const message = nth(from + i)
      return { type: 'message', row: { message, position: from + i } }
    })
    await storage.commit(changes)
  }
  const headId = `m${count}`
  const cursors = {
    eventId: `${count}.t`,
    rev: count,
    tidemark: headId,
    nextLocal: 0,
    complete: true,
    epoch: 0,
  }
  await storage.commit([{ type: 'session', row: { session: { ...SESSION, headId }, ...cursors } }])
}

/** A burst of deltas is a handful of notifications, and is stored as it was said. */
export async function expectBurst(storage: ChatStorage, count: number): Promise<void> {
  const words = Array.from({ length: count }, (_, n) => `w${n} `)
  const { chat, session } = largeChat(storage, () => words)
  await seen(session, () => session.get().status === 'ready')
  let told = 0
  session.subscribe(() => told++)
  const { answer } = await session.send('go')
  expect(textOf(await answer)).toBe(words.join(''))
  await seen(session, () => session.get().status === 'ready' && chat.health.get().outbox === 0)
  expect(told).toBeLessThan(30)
  await chat.close()
}

/** A message of ten million characters is sent, answered with as much, stored, and read again. */
export async function expectHuge(storage: ChatStorage, again: () => Promise<ChatStorage>): Promise<void> {
  const huge = 'tide é '.repeat(1_500_000)
  const { chat, session } = largeChat(storage, (asked) => [asked.slice(0, 4_000_000), asked.slice(4_000_000)])
  const { answer, id, saved } = await session.send(huge)
  expect(saved).toBe(storage.durable ? 'disk' : 'memory')
  expect(textOf(await answer) === huge).toBe(true)
  await seen(session, () => session.get().status === 'ready')
  await chat.close()
  const next = largeChat(await again())
  await seen(next.session, () => next.session.get().messages.length === 2)
  expect(next.session.get().messages.every((message) => textOf(message) === huge)).toBe(true)
  expect(next.session.get().messages[0]?.id).toBe(id)
  await next.chat.close()
}

/** A long history is opened by its newest window, read on window by window, and deleted as a whole. */
export async function expectLong(storage: ChatStorage, count: number): Promise<void> {
  const { chat, session } = largeChat(storage)
  await seen(session, () => session.get().status === 'ready')
  expect(session.get().messages.map(({ id }) => id)).toEqual(
    Array.from({ length: 50 }, (_, i) => `m${count - 49 + i}`),
  )
  expect(session.get()).toMatchObject({ hasOlder: true, tidemark: `m${count}` })
  await session.loadOlder()
  expect(session.get().messages).toHaveLength(100)
  await session.delete()
  await chat.close()
}
