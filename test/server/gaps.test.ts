import { expect, test } from 'vitest'
import type { SseFrame } from '../../src/lib/sse.ts'
import { type Envelope, formatEventId } from '../../src/protocol/events.ts'
import {
  createSession,
  eventsOf,
  feedUntil,
  frames,
  type Stage,
  sendBody,
  stage,
  temporaryFolder,
  typesOf,
} from './stage.ts'

const cursorOf = (envelope: Envelope | undefined): string => (envelope?.id ? formatEventId(envelope.id) : '')

async function ranOnce(ask: Stage['ask']): Promise<Envelope[]> {
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  return feedUntil(ask, 'run-m1')
}

/** What a feed says to a cursor: its first frame, and what follows once something happens. */
async function firstOf(ask: Stage['ask'], cursor: string): Promise<[gap: SseFrame, next: SseFrame]> {
  const response = await ask('GET', '/sessions/s1/events', undefined, { 'last-event-id': cursor })
  const said: SseFrame[] = []
  for await (const batch of frames(response)) {
    said.push(...batch.frames)
    const [gap, next] = said
    if (gap && next) return [gap, next]
    if (gap) await ask('PATCH', '/sessions/s1', { title: 'new' })
  }
  throw new Error('the feed ended')
}

test('a cursor of another history is told so, and what follows is only what is new', async () => {
  const { ask } = stage()
  const all = await ranOnce(ask)
  const [gap, next] = await firstOf(ask, '3.other')
  // A control frame never moves a cursor.
  expect(gap.id).toBeUndefined()
  expect([gap.event, JSON.parse(gap.data)]).toEqual(['gap', { from: 4, to: all.length, reason: 'diverged' }])
  expect(next.event).toBe('session.updated')
  expect(next.id).toMatch(new RegExp(`^${all.length + 1}\\.`))
})

test('what comes back on a request says first that the last event of whoever asks is of another history', async () => {
  const { ask } = stage()
  const all = await ranOnce(ask)
  const last = cursorOf(all.at(-1))
  const send = async (id: string, parent: string, cursor: string) =>
    eventsOf(
      await ask('POST', '/sessions/s1/messages', sendBody(id, parent), {
        accept: 'text/event-stream',
        'last-event-id': cursor,
      }),
    )
  const [known] = await send('m2', 'm1', last)
  expect(known).toMatchObject({ id: { n: all.length + 1 }, event: { type: 'message.created' } })
  const [gap, ...others] = await send('m3', 'm2', `${all.length}.other`)
  expect(gap).toMatchObject({ event: { type: 'gap', reason: 'diverged' } })
  expect(others.length).toBeGreaterThan(0)
  // A cursor that is none refuses no message.
  expect((await send('m4', 'm3', 'bogus'))[0]?.event.type).toBe('message.created')
})

test('a page is limited for a reader whose last event is of another history, whatever it asks after', async () => {
  const { ask } = stage()
  const all = await ranOnce(ask)
  const page = async (query: string, cursor: string) =>
    (await ask('GET', `/sessions/s1/messages?${query}`, undefined, { 'last-event-id': cursor })).json()
  const last = all.length
  for (const query of ['changedSince=1', 'after=m1'])
    for (const foreign of [`${last}.other`, `${last - 1}.other`, `${last + 1}.other`]) {
      expect(await page(query, cursorOf(all.at(-1)))).toMatchObject({ limited: false })
      expect(await page(query, cursorOf(all.at(-2)))).toMatchObject({ limited: false })
      const { limited, messages } = await page(query, foreign)
      expect([limited, messages.length]).toEqual([true, 2])
    }
  const response = await ask('GET', '/sessions/s1/messages', undefined, { 'last-event-id': 'bogus' })
  expect(response.status).toBe(400)
})

test('a cursor from the future is one of another history', async () => {
  const { ask } = stage()
  await ranOnce(ask)
  const [gap] = await firstOf(ask, '5000.tag')
  expect(JSON.parse(gap.data)).toEqual({ reason: 'diverged' })
})

test('a server restored from a backup is noticed by the tag', async () => {
  const folder = temporaryFolder()
  const { ask } = stage({}, `${folder}/a.db`)
  const other = stage({}, `${folder}/b.db`)
  const all = await ranOnce(ask)
  await ranOnce(other.ask)
  const [gap] = await firstOf(other.ask, cursorOf(all[3]))
  expect(JSON.parse(gap.data)).toMatchObject({ reason: 'diverged' })
})

test('a cursor whose event is no longer kept is told what is missing, and then all that is kept', async () => {
  const { ask } = stage({ keepEvents: 4 })
  const all = await ranOnce(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m2', 'm1'))
  await feedUntil(ask, 'run-m2')
  const kept = await feedUntil(ask, 'run-m2')
  expect(kept[0]?.event).toMatchObject({ type: 'gap', from: 1, reason: 'trimmed' })
  const trimmed = await feedUntil(ask, 'run-m2', cursorOf(all[2]))
  expect(trimmed[0]?.event).toMatchObject({ type: 'gap', from: 4, reason: 'trimmed' })
  expect(trimmed.slice(1)).toEqual(kept.slice(1))
  expect(trimmed.length - 1).toBeGreaterThanOrEqual(4)
  const first = trimmed[1]?.id?.n ?? 0
  expect(trimmed[0]?.event).toMatchObject({ to: first - 1 })
})

test('a repeated send whose events are no longer kept says so and ends', async () => {
  const { ask } = stage({ keepEvents: 1 })
  await ranOnce(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m2', 'm1'))
  await feedUntil(ask, 'run-m2')
  const response = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  expect(typesOf(await eventsOf(response)).at(0)).toBe('gap')
})
