import { expect, test } from 'vitest'
import { createRateLimit } from '../../src/server/http/limits.ts'
import type { EventLog, EventRow } from '../../src/server/ports.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createSession, eventually, feedUntil, sendBody, stage, temporaryFolder } from './stage.ts'

/** An event log of its own, as a server for several instances would have; it fails and forgets on demand. */
function memoryLog() {
  const streams = new Map<string, EventRow[]>()
  const waiting = new Set<() => void>()
  const faults = { append: false }
  const streamOf = (sessionId: string) => streams.get(sessionId) ?? []
  const log: EventLog = {
    async append(sessionId, entries) {
      if (faults.append) throw new Error('the log is away')
      const tail = streamOf(sessionId).at(-1)?.id.n ?? 0
      streams.set(sessionId, [...streamOf(sessionId), ...entries.filter(({ id }) => id.n > tail)])
      for (const wake of [...waiting]) wake()
    },
    async read(sessionId, after, limit) {
      const rows = streamOf(sessionId)
      return { entries: rows.filter(({ id }) => id.n > after).slice(0, limit), tail: rows.at(-1)?.id.n ?? 0 }
    },
    wait: (sessionId, after, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
        if (signal.aborted || (streamOf(sessionId).at(-1)?.id.n ?? 0) > after) wake()
      }),
  }
  return { log, faults, streams }
}

test('events are brought to a log of their own, and read from there', async () => {
  const { log, streams } = memoryLog()
  const { ask, errors } = stage({ log })
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const events = await feedUntil(ask, 'run-m1')
  expect(streams.get('s1')?.map(({ id, event }) => ({ id, event }))).toEqual(events)
  expect(events.map(({ id }) => id?.n)).toEqual(events.map((_, at) => at + 1))
  expect(errors).toEqual([])
})

test('what was committed and not published is published by whoever reads', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const shared = memoryLog()
  shared.faults.append = true
  const one = stage({ log: shared.log }, file)
  await createSession(one.ask)
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  await eventually(() => one.errors.length).toBeGreaterThan(5)
  await one.chat.close()
  expect(shared.streams.size).toBe(0)
  shared.faults.append = false
  const two = stage({ log: shared.log }, file)
  const events = await feedUntil(two.ask, 'run-m1')
  expect(events.map(({ id }) => id?.n)).toEqual(events.map((_, at) => at + 1))
})

test('a log that has forgotten is filled again, and what nobody has is a gap', async () => {
  const shared = memoryLog()
  const { ask } = stage({ log: shared.log })
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const all = await feedUntil(ask, 'run-m1')
  shared.streams.set('s1', [])
  expect(await feedUntil(ask, 'run-m1')).toEqual(all)
  shared.streams.set('s1', shared.streams.get('s1')?.slice(4) ?? [])
  const rest = await feedUntil(ask, 'run-m1')
  expect(rest[0]?.event).toEqual({ type: 'gap', from: 1, to: 4, reason: 'trimmed' })
  expect(rest.slice(1)).toEqual(all.slice(4))
})

test('a store that is asked to append what it has leaves it', async () => {
  const { log, ...store } = sqliteStore(`${temporaryFolder()}/chat.db`)
  const row = (n: number, tag: string): EventRow => ({
    id: { n, tag },
    event: { type: 'run.started', runId: 'r' },
  })
  await log.append('s1', [row(1, 'a'), row(2, 'b')])
  await log.append('s1', [row(2, 'x'), row(3, 'c')])
  expect(await log.read('s1', 0, 10)).toEqual({ entries: [row(1, 'a'), row(2, 'b'), row(3, 'c')], tail: 3 })
  expect(await log.read('s1', 1, 1)).toEqual({ entries: [row(2, 'b')], tail: 3 })
  await store.close()
})

test('a rate limit gives back evenly what was used', () => {
  let now = 0
  const limit = createRateLimit({ max: 2, per: 1000 }, { now: () => now })
  limit.admit('a')
  limit.admit('a')
  expect(() => limit.admit('a')).toThrow('more than 2 requests in 1 s')
  limit.admit('b')
  now = 499
  expect(() => limit.admit('a')).toThrow()
  now = 500
  limit.admit('a')
  expect(() => limit.admit('a')).toThrow()
  // A clock set back takes nothing.
  now = 0
  expect(() => limit.admit('a')).toThrow()
})
