import * as z from 'zod/mini'
import { TidemarkError } from '../../lib/errors.ts'
import { Id, Message, Session } from '../../message/schema.ts'
import { ChatEvent, RunOutcome } from '../../protocol/events.ts'
import type { EventRow, KeyRow, MessageRow, RunRow, SessionRow } from '../ports.ts'
import type { Tables } from './tables.ts'

const Ids = z.array(Id)
const RunKind = z.enum(['send', 'steer', 'regenerate', 'continue', 'tombstone'])
const RunState = z.enum(['queued', 'running', 'waiting', 'finished'])
const Outcome = z.nullable(RunOutcome)

/** Stored JSON by its schema. What does not fit was not written by this code. */
function read<T extends z.ZodMiniType>(schema: T, text: string, what: string): z.output<T> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new TidemarkError('storage', `${what} cannot be read`, { cause })
  }
}

export const sessionRow = (row: Tables['sessions']): SessionRow => ({
  account: row.account,
  session: sessionOf(row),
  seq: row.seq,
  rev: row.rev,
  events: row.events,
  tag: row.tag,
  trimmed: row.trimmed,
  published: row.published,
  epoch: row.epoch,
  deleted: row.deleted === 1,
})

export const sessionOf = (row: Pick<Tables['sessions'], 'id' | 'data'>): Session =>
  read(Session, row.data, `session ${row.id}`)

export const messageRow = (row: Tables['messages']): MessageRow => ({
  message: read(Message, row.data, `message ${row.id}`),
  runId: row.run,
  folded: row.folded,
})

export const eventRow = (row: Pick<Tables['events'], 'session' | 'n' | 'tag' | 'data'>): EventRow => ({
  id: { n: row.n, tag: row.tag },
  event: read(ChatEvent, row.data, `event ${row.n} of session ${row.session}`),
})

export const runRow = (row: Tables['runs']): RunRow => ({
  id: row.id,
  sessionId: row.session,
  kind: RunKind.parse(row.kind),
  state: RunState.parse(row.state),
  place: row.place,
  answers: row.answers,
  messages: read(Ids, row.messages, `run ${row.id}`),
  epoch: row.epoch,
  leaseUntil: row.lease,
  outcome: Outcome.parse(row.outcome),
  ended: row.ended,
})

export const keyRow = (row: Tables['keys']): KeyRow => ({
  key: row.key,
  sessionId: row.session,
  hash: row.hash,
  messageId: row.message,
  runId: row.run,
  event: { n: row.n, tag: row.tag },
})
