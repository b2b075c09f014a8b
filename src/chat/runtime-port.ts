import type { CallRecord } from '../context/call-record.ts'
import type { ContextView } from '../context/view.ts'
import type { Env } from '../lib/env.ts'
import type { AssistantMessage, Message, Session, ToolCallBlock, ToolMessage } from '../message/schema.ts'
import type { CallWord } from '../protocol/commands.ts'
import type { ChatEvent, Envelope, MessagePage } from '../protocol/events.ts'
import type { ChatStorage, OutboxRequest } from './ports.ts'

/** What came at once: a network chunk, or several that were there already. An empty one is a sign of life. */
export interface EventBatch {
  envelopes: Envelope[]
  /** Known events that did not parse: each is something missing. */
  malformed: number
}

export interface PageQuery {
  after?: string | null
  changedSince?: number
  before?: string
  limit: number
  /** The last event that is known: the answer is `limited` where the other side knows that it is of another history. */
  cursor?: string | null
}

/** What a runtime made of a request. */
export interface Accepted {
  /** The message as the other side stored it, where it says so. */
  message?: Message
  /** The event or the revision by which what it did is told, where it says so. */
  told?: { n?: number; rev?: number }
  /** It was stopped before: nobody answers it, and who looks for the answer is taken back. */
  unanswered?: boolean
  /** Events that come back on the same request (a server without a feed); ended by the end of the bytes. */
  events?: AsyncIterable<EventBatch>
}

export interface DispatchContext {
  sessionId: string
  /** The idempotency key. */
  key: string
  account: string
  /** Whether the answer's events are not to come back on the request: the session's feed is open, or all connections are taken. */
  feed: boolean
  /** The last event that is known: whether those that come back on the request go on from it, the other side can say. */
  cursor?: string | null
  /** Attempts before this one. */
  attempts: number
  signal: AbortSignal
}

/** What the client lends a runtime that owns no truth elsewhere. */
export interface RuntimeHost {
  readonly env: Env
  readonly account: string
  /** The branch up to and including `messageId`, whole, oldest first. */
  history(sessionId: string, messageId: string): Promise<readonly Message[]>
  /** The messages of a run that are known so far, answers and results of their calls, oldest first. */
  answers(sessionId: string, runId: string): readonly Message[]
  /** Whether the device knows that it has no network. */
  offline(): boolean
  /**
   * Numbers, reduces and commits events of a session; resolves when they are durable, with the results of calls that stand
   * instead of those given, since they were there before.
   */
  append(sessionId: string, events: readonly ChatEvent[]): Promise<readonly Message[]>
  /** For what a runtime derives and keeps: records, and nothing else. */
  readonly storage: Pick<ChatStorage, 'records' | 'commit'>
}

/** What answers. Failures of every method are thrown as `TidemarkError`; what can be tried again has a retryable code. */
export interface Runtime {
  /** Who owns the truth: a server, or this client. */
  readonly truth: 'server' | 'client'
  /** Called once by `createChat`. */
  open(host: RuntimeHost): void
  /** Resolves when the request is durably accepted. A refusal has a code that is not retryable. */
  dispatch(request: OutboxRequest, context: DispatchContext): Promise<Accepted>
  /** Leaves the runs of a session to another tab: they write nothing any more. */
  leave?(sessionId: string): void
  /** Hears of all that waits in a session, whenever that may have changed: it may concern what is in flight. */
  queued?(requests: readonly OutboxRequest[], sessionId: string): void
  /**
   * The session's events after a cursor, as they come. Yields an empty batch when the line is proven open.
   * Throws `not-found` where there is no feed.
   */
  follow(sessionId: string, cursor: string | null, signal: AbortSignal): AsyncIterable<EventBatch>
  /** A page of messages; undefined fields of the answer are what the server cannot prove. */
  page(
    sessionId: string,
    query: PageQuery,
    signal: AbortSignal,
  ): Promise<{ page: MessagePage; malformed: number }>
  /** Sessions, newest first. */
  sessions(
    query: { after?: string; limit: number },
    signal: AbortSignal,
  ): Promise<{ sessions: readonly Session[]; hasMore: boolean }>
  /** Whether an answer that was cut off can be gone on with. Absent where none can. */
  canResume?(message: AssistantMessage): boolean
  /** Goes on with runs that were cut off among their calls, or wait for somebody's word about one. @default false */
  readonly continues?: boolean
  /** What the model would get to see now of the branch that ends in `headId`. Absent where somebody else decides that. */
  context?(sessionId: string, headId: string | null): Promise<ContextView>
  /** The records of the session's model calls, the oldest first. Absent where none are kept. */
  calls?(sessionId: string, signal: AbortSignal): Promise<readonly CallRecord[]>
  /**
   * What this page says of a call that a server leaves to it: its result, or that somebody has to allow it first; nothing,
   * where it has no such tool, or was aborted. At most once for each call, also over tabs and reloads. Absent without tools.
   */
  serve?(served: {
    message: ToolMessage
    call: ToolCallBlock
    key: string
    signal: AbortSignal
    /** Nothing keeps other tabs from executing it as well. */
    shared: boolean
  }): Promise<CallWord | undefined>
  close(): Promise<void>
}
