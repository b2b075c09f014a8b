import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterFailure,
  askedId,
  cancelledRun,
  dueNow,
  type Lane,
  nextRow,
  type OutboxDecision,
  runOf,
  showing,
} from '../../src/chat/outbox.ts'
import type { OutboxRow } from '../../src/chat/ports.ts'
import { ErrorCode } from '../../src/lib/error-data.ts'
import { isRetryable } from '../../src/lib/errors.ts'
import { cancel, command, create, row, send } from './rows.ts'

const NOW = 1_000
const error = { code: 'server' as const, message: 'no' }

const words = (decision: OutboxDecision): string =>
  'row' in decision
    ? `${decision.type} ${decision.row.id}`
    : decision.type === 'wait'
      ? `wait ${decision.until}`
      : decision.type

describe('outbox: the next row', () => {
  const tables: [name: string, rows: OutboxRow[], queue: string, lane: string][] = [
    ['of nothing', [], 'idle', 'idle'],
    ['is the first by position, not by arrival', [row('b', 2), row('a', 1)], 'send a', 'idle'],
    ['is never another’s', [row('a', 1, { account: 'other' }), row('b', 2)], 'send b', 'idle'],
    ['waits until it is due', [row('a', 1, { nextAttemptAt: NOW + 1 }), row('b', 2)], 'wait 1001', 'idle'],
    [
      'is due where its time is further off than anybody asked for: the clock was put back',
      [row('a', 1, { nextAttemptAt: NOW + 30_001, error })],
      'send a',
      'idle',
    ],
    [
      'waits as long as it was asked to',
      [row('a', 1, { nextAttemptAt: NOW + 60_000, error: { ...error, retryAfter: 60_000 } })],
      'wait 61000',
      'idle',
    ],
    ['is due in its moment', [row('a', 1, { nextAttemptAt: NOW })], 'send a', 'idle'],
    ['is held up by a refused one', [row('a', 1, { state: 'refused' }), row('b', 2)], 'blocked a', 'idle'],
    ['is not held up by what is behind', [row('a', 1), row('b', 2, { state: 'refused' })], 'send a', 'idle'],
    [
      'lets a stop pass',
      [row('a', 1, { state: 'refused' }), row('c', 2, { request: cancel('r') })],
      'blocked a',
      'send c',
    ],
    [
      'is a stop before what was said of a call: it may have been thought better of',
      [
        row('b', 1, { request: command({ id: 'b', type: 'approve', messageId: 'm' }) }),
        row('c', 2, { request: cancel('r') }),
      ],
      'idle',
      'send c',
    ],
    [
      'is not asked for before it is told that nobody wants it any more',
      [row('a', 1), row('b', 2), row('c', 3, { request: cancel('run-a') })],
      'idle',
      'send c',
    ],
    [
      'is asked for all the same where the other side cannot take the stop',
      [
        row('a', 1),
        row('c', 3, { request: cancel('run-a'), error: { ...error, status: 500 }, nextAttemptAt: NOW + 1 }),
      ],
      'send a',
      'wait 1001',
    ],
    [
      'waits for a stop that nobody could be told yet',
      [row('a', 1), row('c', 3, { request: cancel('run-a'), error, nextAttemptAt: NOW + 1 })],
      'idle',
      'wait 1001',
    ],
    [
      'does not wait for a stop of another, nor for another account’s',
      [
        row('a', 1),
        row('c', 2, { request: cancel('run-b') }),
        row('d', 3, { request: cancel('run-a'), account: 'other' }),
      ],
      'send a',
      'send c',
    ],
    [
      'lets no stop pass a session that is not there yet',
      [row('n', 0, { request: create }), row('a', 1), row('c', 2, { request: cancel('r') })],
      'send n',
      'idle',
    ],
    [
      'lets one pass that another tab wants there as well: something was asked in it',
      [row('a', 1), row('n', 2, { request: create }), row('c', 3, { request: cancel('r') })],
      'send a',
      'send c',
    ],
    [
      'is not held up by another account’s session',
      [row('n', 0, { request: create, account: 'other' }), row('c', 2, { request: cancel('r') })],
      'idle',
      'send c',
    ],
    [
      'is the creation again once the message that showed its refusal is tried again',
      [row('n', 0, { request: create, state: 'refused' }), row('a', 1)],
      'send n',
      'idle',
    ],
    [
      'is held up where that message still shows it',
      [row('n', 0, { request: create }), row('a', 1, { state: 'refused' }), row('b', 2)],
      'blocked a',
      'idle',
    ],
    [
      'is held up where a creation was refused for nobody',
      [row('n', 0, { request: create, state: 'refused' })],
      'blocked n',
      'idle',
    ],
  ]
  test.each(tables)('%s', (_, rows, queue, lane) => {
    const next = (which: Lane) => words(nextRow(rows, 'default', NOW, which))
    expect([next('queue'), next('cancel')]).toEqual([queue, lane])
    expect(words(nextRow(rows.toReversed(), 'default', NOW, 'queue'))).toBe(queue)
  })

  test('is always the first of its lane, due, and the account’s own', () => {
    const anyRow = fc.record({
      position: fc.nat(9),
      account: fc.constantFrom('default', 'other'),
      state: fc.constantFrom<OutboxRow['state']>('waiting', 'refused'),
      nextAttemptAt: fc.nat(2 * NOW),
      stops: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(anyRow), fc.constantFrom<Lane>('queue', 'cancel'), (given, lane) => {
        const rows = given.map(({ stops, ...fields }, at) =>
          row(`m${at}`, fields.position, { ...fields, ...(stops && { request: cancel('r') }) }),
        )
        const own = rows.filter(
          ({ account, request }) => account === 'default' && (request.type === 'send') === (lane === 'queue'),
        )
        const first = Math.min(...own.map(({ position }) => position))
        const decision = nextRow(rows, 'default', NOW, lane)
        if (!('row' in decision)) {
          expect(decision.type).toBe(own.length === 0 ? 'idle' : 'wait')
          return
        }
        expect(decision.row).toMatchObject({ position: first, account: 'default' })
        expect(decision.type).toBe(decision.row.state === 'refused' ? 'blocked' : 'send')
        if (decision.type === 'send') expect(decision.row.nextAttemptAt).toBeLessThanOrEqual(NOW)
      }),
    )
  })
})

describe('outbox: after a failure', () => {
  test.each(ErrorCode.options)('%s is tried again or refused, as its code says', (code) => {
    const failed = afterFailure(
      row('a', 1, { claim: 'tab', attempts: 2 }),
      { code, message: 'no', status: 400 },
      NOW,
      0.5,
    )
    expect(failed).toMatchObject({
      state: isRetryable({ code }) ? 'waiting' : 'refused',
      attempts: 3,
      claim: null,
      error: { code },
      request: send('a'),
    })
    expect(failed.nextAttemptAt > NOW).toBe(isRetryable({ code }))
  })

  test('auth without a status waits: nobody was asked, and who is signed in may change', () => {
    const failed = afterFailure(row('a', 1), { code: 'auth', message: 'somebody else' }, NOW, 0.5)
    expect(failed).toMatchObject({ state: 'waiting', error: { code: 'auth' } })
  })

  test('the wait doubles with each attempt, up to its cap, and never undercuts what was asked for', () => {
    const waits = [0, 1, 2, 3, 20].map(
      (attempts) => afterFailure(row('a', 1, { attempts }), error, NOW, 1).nextAttemptAt - NOW,
    )
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 30_000])
    const asked = afterFailure(row('a', 1), { ...error, retryAfter: 90_000 }, NOW, 0)
    expect(asked.nextAttemptAt).toBe(NOW + 90_000)
  })

  test('somebody’s try forgets the failure, and keeps key and body', () => {
    const failed = afterFailure(row('a', 1), { code: 'conflict', message: 'no' }, NOW, 0.5)
    expect(dueNow(failed)).toEqual(row('a', 1, { attempts: 1 }))
  })
})

const edit = command({
  id: 'e',
  type: 'edit',
  messageId: 'old',
  newId: 'new',
  runId: 'r',
  content: [{ type: 'text', text: 'x' }],
})
const regenerate = command({ id: 'g', type: 'regenerate', messageId: 'm', runId: 'r' })
const select = command({ id: 's', type: 'selectBranch', messageId: 'm' })

test('a row knows its message, its run, and what it stops', () => {
  const table: [
    request: OutboxRow['request'],
    asked: string,
    run: string | undefined,
    stops: string | undefined,
  ][] = [
    [send('a'), 'a', 'run-a', undefined],
    [edit, 'new', 'r', undefined],
    [regenerate, 'a', 'r', undefined],
    [select, 'a', undefined, undefined],
    [cancel('r'), 'a', undefined, 'r'],
    [create, 'a', undefined, undefined],
    [{ type: 'patchSession', body: {} }, 'a', undefined, undefined],
    [{ type: 'deleteSession' }, 'a', undefined, undefined],
  ]
  for (const [request, asked, run, stops] of table) {
    const given = row('a', 1, { request })
    expect([askedId(given), runOf(given), cancelledRun(given)]).toEqual([asked, run, stops])
  }
})

test('a refusal is shown by a message of its own, by the first that waits for the session, or by none', () => {
  const first = row('a', 2)
  const rows = [row('b', 3), first, row('x', 1, { account: 'other' }), row('p', 0, { request: select })]
  expect(showing(first, rows)).toBe(first)
  expect(showing(row('e', 9, { request: edit }), rows)?.id).toBe('e')
  expect(showing(row('n', 0, { request: create }), rows)).toBe(first)
  expect(showing(row('n', 0, { request: create }), [])).toBeUndefined()
  for (const request of [select, regenerate, cancel('r')])
    expect(showing(row('n', 0, { request }), rows)).toBeUndefined()
})
