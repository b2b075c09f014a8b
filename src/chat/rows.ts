import * as z from 'zod/mini'
import { ErrorData } from '../lib/error-data.ts'
import { must } from '../lib/must.ts'
import { AssistantBlock, Id, Message, Session } from '../message/schema.ts'
import { Command, CreateSession, PatchSession, SendMessage } from '../protocol/commands.ts'
import type { JournalEntry, OutboxRow, StoredMessage, StoredRecord, StoredSession } from './ports.ts'

/** What a storage keeps, by table. */
export interface Rows {
  sessions: StoredSession
  messages: StoredMessage
  journal: JournalEntry
  outbox: OutboxRow
  records: StoredRecord
}

const count = z.number().check(must((it) => Number.isSafeInteger(it) && it >= 0, 'expected a count'))

const request = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['createSession']), body: CreateSession }),
  z.object({ type: z.enum(['patchSession']), body: PatchSession }),
  z.object({ type: z.enum(['deleteSession']) }),
  z.object({ type: z.enum(['send']), body: SendMessage }),
  z.object({ type: z.enum(['command']), body: Command }),
  z.object({ type: z.enum(['resume']), body: z.object({ messageId: Id, runId: Id }) }),
])

/**
 * The rows as schemas, for storages whose rows outlive the code that wrote them. They stand apart from the types in
 * `ports.ts`, so that a chat without such a storage does not carry them.
 */
export const ROWS: { readonly [Table in keyof Rows]: z.ZodMiniType<Rows[Table]> } = {
  sessions: z.object({
    session: Session,
    eventId: z.nullable(z.string()),
    rev: z.number(),
    tidemark: z.nullable(z.string()),
    nextLocal: z.number(),
    complete: z.boolean(),
    epoch: z.number(),
    term: z.optional(z.number()),
    deleted: z.optional(z.boolean()),
  }),
  messages: z.object({ message: Message, position: z.number() }),
  journal: z.object({
    sessionId: Id,
    messageId: Id,
    index: count,
    offset: count,
    text: z.string(),
    block: z.optional(AssistantBlock),
  }),
  outbox: z.object({
    id: Id,
    sessionId: Id,
    account: z.string(),
    position: z.number(),
    request,
    state: z.enum(['waiting', 'refused']),
    attempts: z.number(),
    nextAttemptAt: z.number(),
    claim: z.nullable(z.string()),
    error: z.optional(ErrorData),
  }),
  records: z.object({
    kind: z.string(),
    key: z.string(),
    sessionId: z.nullable(z.string()),
    value: z.unknown(),
  }),
}
