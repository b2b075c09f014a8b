import { backoffDelay } from '../lib/backoff.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { isRetryable } from '../lib/errors.ts'
import type { OutboxRow } from './ports.ts'

/** What a session's queue should do now. */
export type OutboxDecision =
  | { type: 'send'; row: OutboxRow }
  /** Until this time (milliseconds since the epoch). */
  | { type: 'wait'; until: number }
  /** Its first row was refused: somebody must discard it or try it again. */
  | { type: 'blocked'; row: OutboxRow }
  | { type: 'idle' }

/**
 * `cancel` passes, so that a stop does not wait behind what it stops; neither does what is said about a call that a run
 * waits for, nor the end of the whole session.
 */
export type Lane = 'queue' | 'cancel'

const PASSING: ReadonlySet<string> = new Set(['cancel', 'approve', 'reject', 'askApproval', 'toolResult'])

const laneOf = ({ request }: OutboxRow): Lane =>
  request.type === 'deleteSession' || (request.type === 'command' && PASSING.has(request.body.type))
    ? 'cancel'
    : 'queue'

/** The first of these rows, in their order in the session. */
function firstOf(rows: Iterable<OutboxRow>): OutboxRow | undefined {
  let first: OutboxRow | undefined
  for (const row of rows) if (!first || row.position < first.position) first = row
  return first
}

/** Whether a row brings a message into being, which can show how the row fares. */
const bringsMessage = ({ request }: OutboxRow): boolean =>
  request.type === 'send' || (request.type === 'command' && request.body.type === 'edit')

/**
 * The row whose message shows that `row` was refused: its own, or, for a session that could not be created, the first that
 * waits for it. Undefined where no message can say so.
 */
export function showing(row: OutboxRow, rows: Iterable<OutboxRow>): OutboxRow | undefined {
  if (bringsMessage(row)) return row
  if (row.request.type !== 'createSession') return undefined
  return firstOf([...rows].filter((other) => other.account === row.account && bringsMessage(other)))
}

/** Only the first row of a session's lane is eligible. */
export function nextRow(rows: Iterable<OutboxRow>, account: string, now: number, lane: Lane): OutboxDecision {
  const own = [...rows].filter((row) => row.account === account)
  const first = firstOf(own.filter((other) => laneOf(other) === 'queue'))
  // Nothing can be cancelled in a session that the other side does not know yet. One that another tab creates as well is known
  // once something was asked in it, and that may wait for what passes.
  if (lane === 'cancel' && first?.request.type === 'createSession') return { type: 'idle' }
  const passing = own.filter((other) => laneOf(other) === 'cancel')
  // Who stops a run has thought better of what they allowed it.
  const row = lane === 'queue' ? first : (firstOf(passing.filter(cancelledRun)) ?? firstOf(passing))
  // A stop is known before what it stops is sent; unless the other side answers, and cannot take it.
  const asked = row && runOf(row)
  const isStopped = (other: OutboxRow) => cancelledRun(other) === asked && other.error?.status === undefined
  if (!row || (asked && own.some(isStopped))) return { type: 'idle' }
  const shown = showing(row, own) ?? row
  if (shown.state === 'refused') return { type: 'blocked', row: shown }
  const wait = row.nextAttemptAt - now
  // Longer than anybody asked it to: the clock was put back.
  const isDue = wait <= 0 || wait > Math.max(LEASE, row.error?.retryAfter ?? 0)
  return isDue ? { type: 'send', row } : { type: 'wait', until: row.nextAttemptAt }
}

/** Milliseconds for which a claim holds: whoever made it may be gone. No back-off is longer. */
const LEASE = 30_000

/** The row as the tab of this token is about to send it: until that is over, or too long ago, no other does. */
export const claimed = (row: OutboxRow, token: string, now: number): OutboxRow => ({
  ...row,
  claim: token,
  nextAttemptAt: now + LEASE,
})

/** The row after a failed attempt: refused where trying again would not help, else due after a back-off. */
export function afterFailure(row: OutboxRow, error: ErrorData, now: number, random: number): OutboxRow {
  const attempts = row.attempts + 1
  // Without a status nobody was asked: who is signed in may change, and so may who stands in between.
  const isHeld = (error.code === 'auth' || error.code === 'protocol') && error.status === undefined
  if (!isRetryable(error) && !isHeld) return { ...row, attempts, claim: null, state: 'refused', error }
  const nextAttemptAt = now + backoffDelay(row.attempts, random, error.retryAfter)
  return { ...row, attempts, claim: null, nextAttemptAt, error }
}

/** A row that waits for its first attempt. */
export const newRow = (
  fields: Pick<OutboxRow, 'id' | 'sessionId' | 'account' | 'position' | 'request'>,
): OutboxRow => ({
  ...fields,
  state: 'waiting',
  attempts: 0,
  nextAttemptAt: 0,
  claim: null,
})

/** The row as if it had never been tried: for somebody's "try again". */
export function dueNow(row: OutboxRow): OutboxRow {
  const { error: _, ...rest } = row
  return { ...rest, state: 'waiting', nextAttemptAt: 0, claim: null }
}

/** The id of the user message that a row brings into being; the row's own id where it brings none. */
export const askedId = ({ request, id }: OutboxRow): string =>
  request.type === 'command' && request.body.type === 'edit' ? request.body.newId : id

/** The run that a row asks for. */
export function runOf({ request }: OutboxRow): string | undefined {
  if (request.type === 'send' || request.type === 'resume') return request.body.runId
  if (request.type !== 'command' || request.body.type === 'cancel') return undefined
  return 'runId' in request.body ? request.body.runId : undefined
}

/** What a row asks another answer to, or beside: no message of its own shows that. */
export const askedAnew = ({ request }: OutboxRow) =>
  request.type === 'command' && (request.body.type === 'regenerate' || request.body.type === 'continue')
    ? request.body
    : undefined

/**
 * What is said instead of a result that the other side refuses, as too large or too deep: the run that waits for it waits for
 * ever, else. Undefined where something else was refused.
 */
export function insteadOf(row: OutboxRow, { code, message }: ErrorData): OutboxRow | undefined {
  const { request } = row
  if (request.type !== 'command' || code !== 'invalid-request') return undefined
  const { body } = request
  if (body.type !== 'toolResult' || body.error !== undefined) return undefined
  const { data: _, ...rest } = body
  const error = `the result was refused: ${message}`
  return { ...dueNow(row), request: { type: 'command', body: { ...rest, error } } }
}

/** The run that a row wants ended. */
export const cancelledRun = ({ request }: OutboxRow): string | undefined =>
  request.type === 'command' && request.body.type === 'cancel' ? request.body.runId : undefined
