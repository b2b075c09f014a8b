import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { type Envelope, formatEventId, parseEventId } from '../../src/protocol/events.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { emptyState, messagesOf, type SessionState } from '../../src/protocol/state.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { type ScriptPiece, scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import {
  createSession,
  eventsOf,
  failureIn,
  feedUntil,
  frames,
  pageOf,
  type Stage,
  sendBody,
  stage,
  temporaryFolder,
  typesOf,
} from './stage.ts'

const rowsOf = (state: SessionState): Message[] =>
  [...messagesOf(state)].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))

const fold = (state: SessionState, events: readonly Envelope[]): SessionState =>
  events.reduce((folded, envelope) => reduce(folded, envelope), state)

/** Lets the run go on, as requests that come over a network do. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

const cursorOf = (envelope: Envelope | undefined): string => (envelope?.id ? formatEventId(envelope.id) : '')

/** A page as a client takes it: the rows, and the cursor that comes with them. */
async function snapshot(ask: Stage['ask']): Promise<SessionState> {
  const page = await pageOf(ask, '?limit=200')
  return {
    ...mergePage(emptyState('s1'), page),
    cursor: (page.eventId && parseEventId(page.eventId)) || null,
  }
}

async function ranOnce(ask: Stage['ask']): Promise<Envelope[]> {
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  return feedUntil(ask, 'run-m1')
}

const piece: fc.Arbitrary<ScriptPiece> = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
  fc.string({ minLength: 1, maxLength: 10 }).map((thinking) => ({ thinking })),
  fc.jsonValue({ maxDepth: 1 }).map((value) => ({ toolCall: { name: 'echo', arguments: { value } } })),
)
const echo = tool({ name: 'echo', parameters: { type: 'object' }, execute: (args) => args })

test('from every cursor of a run the feed gives the same rows as the pages do', async () => {
  const script = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 3 }), async (answers, chunkSize) => {
      const model = scriptedModel((_, call) => answers[call] ?? 'the end', { chunkSize })
      const { ask, errors } = stage({ model, tools: [echo], batch: 0 })
      const all = await ranOnce(ask)
      const rows = rowsOf(fold(emptyState('s1'), all))
      expect(rows).toEqual((await pageOf(ask)).messages)
      for (let at = 0; at < all.length - 1; at++) {
        const rest = await feedUntil(ask, 'run-m1', cursorOf(all[at]))
        expect(rest).toEqual(all.slice(at + 1))
      }
      expect(errors).toEqual([])
    }),
    { numRuns: 5 },
  )
}, 30_000)

test('a page taken at any moment and the feed from its event are the whole', async () => {
  const model = scriptedModel(() => 'told in little pieces', {
    chunkSize: 1,
    pace: nextTurn,
  })
  const { ask } = stage({ model, batch: 0 })
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const taken: SessionState[] = []
  const isOver = (state: SessionState | undefined) =>
    state !== undefined && rowsOf(state).at(1)?.status === 'completed'
  while (!isOver(taken.at(-1))) {
    const state = await snapshot(ask)
    if (state.cursor?.n !== taken.at(-1)?.cursor?.n) taken.push(state)
    await nextTurn()
  }
  const whole = (await pageOf(ask)).messages
  for (const state of taken) {
    const { cursor } = state
    const events = isOver(state) || !cursor ? [] : await feedUntil(ask, 'run-m1', formatEventId(cursor))
    const end = fold(state, events)
    expect(end.missing).toBeNull()
    expect(rowsOf(end)).toEqual(whole)
  }
  // Some of them in mid-answer.
  expect(taken.some((state) => rowsOf(state).at(1)?.status === 'streaming')).toBe(true)
})

test('a feed is live: what happens later comes by itself', async () => {
  const { ask } = stage()
  await createSession(ask)
  const feed = eventsOf(await ask('GET', '/sessions/s1/events'), ({ type }) => type === 'run.finished')
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  expect(typesOf(await feed)).toEqual(typesOf(await feedUntil(ask, 'run-m1')))
})

test('an idle line says that it lives, as often as its header promises', async () => {
  const { ask } = stage({ heartbeat: 20 })
  await createSession(ask)
  const response = await ask('GET', '/sessions/s1/events')
  expect(response.headers.get('tidemark-heartbeat')).toBe('0.02')
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const comments: string[] = []
  for await (const batch of frames(response)) {
    comments.push(...batch.comments)
    if (comments.length === 4) break
  }
  expect(comments).toEqual(['open', 'ping', 'ping', 'ping'])
})

test('the cursor may come in the query, for those who cannot set a header', async () => {
  const { ask } = stage()
  const all = await ranOnce(ask)
  const response = await ask('GET', `/sessions/s1/events?lastEventId=${cursorOf(all[3])}`)
  expect(await eventsOf(response, ({ type }) => type === 'run.finished')).toEqual(all.slice(4))
})

test('a cursor that is none is refused', async () => {
  const { ask } = stage()
  await createSession(ask)
  const failure = await failureIn(
    await ask('GET', '/sessions/s1/events', undefined, { 'last-event-id': 'x' }),
  )
  expect(failure).toEqual({
    status: 400,
    code: 'invalid-request',
    message: 'last-event-id: expected <number>.<tag>',
  })
})

test('no more feeds are open than the account may have, and each gives its place back', async () => {
  const { ask } = stage({ limits: { feeds: 2 } })
  await createSession(ask)
  const open = () => ask('GET', '/sessions/s1/events')
  const [first] = [await open(), await open()]
  expect(await failureIn(await open())).toMatchObject({ status: 429, code: 'rate-limit' })
  const send = ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  expect(await failureIn(await send)).toMatchObject({ status: 429 })
  expect((await pageOf(ask)).messages).toEqual([])
  await first?.body?.cancel()
  expect((await open()).status).toBe(200)
})

test('any instance serves any cursor: what one commits, a feed of the other tells', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const one = stage({}, file)
  const two = stage({}, file)
  await createSession(one.ask)
  const feed = eventsOf(await two.ask('GET', '/sessions/s1/events'), ({ type }) => type === 'run.finished')
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  expect(await feed).toEqual(await feedUntil(one.ask, 'run-m1'))
  const all = await feedUntil(one.ask, 'run-m1')
  for (let at = 0; at < all.length - 1; at++) {
    expect(await feedUntil(two.ask, 'run-m1', cursorOf(all[at]))).toEqual(all.slice(at + 1))
  }
})

test('a reader that does not read is not read for', async () => {
  const store = sqliteStore(':memory:')
  const { log } = store
  let reads = 0
  const read: typeof log.read = (...given) => {
    reads++
    return log.read(...given)
  }
  const { ask } = stage({ store, log: { ...log, read } })
  await ranOnce(ask)
  const before = reads
  const response = await ask('GET', '/sessions/s1/events')
  await ask('PATCH', '/sessions/s1', { title: 'a' })
  await ask('PATCH', '/sessions/s1', { title: 'b' })
  expect(reads - before).toBeLessThanOrEqual(1)
  await response.body?.cancel()
})
