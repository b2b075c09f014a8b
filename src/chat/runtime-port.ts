import type { Env } from '../lib/env.ts'
import type { Message, Session } from '../message/schema.ts'
import type { ChatEvent, Envelope, MessagePage } from '../protocol/events.ts'
import type { OutboxRequest } from './ports.ts'

/** What a runtime made of a request. */
export interface Accepted {
  /** The message as the other side stored it, where it says so. */
  message?: Message
  /** Events that come back on the same request (a server without a feed); ended by the end of the bytes. */
  events?: AsyncIterable<readonly Envelope[]>
}

export interface DispatchContext {
  sessionId: string
  /** The idempotency key. */
  key: string
  account: string
  /** Whether the session's feed is open, so that the answer's events need not come back on the request. */
  feed: boolean
  signal: AbortSignal
}

/** What the client lends a runtime that owns no truth elsewhere. */
export interface RuntimeHost {
  readonly env: Env
  /** The selected branch up to and including `messageId`, whole, from storage. */
  history(sessionId: string, messageId: string): Promise<readonly Message[]>
  /** Numbers, reduces and commits events of a session; resolves when they are durable. */
  append(sessionId: string, events: readonly ChatEvent[]): Promise<void>
}

/** What answers. Failures of every method are thrown as `TidemarkError`; what can be tried again has a retryable code. */
export interface Runtime {
  /** Who owns the truth: a server, or this client. */
  readonly truth: 'server' | 'client'
  /** Called once by `createChat`. */
  open(host: RuntimeHost): void
  /** Resolves when the request is durably accepted. A refusal has a code that is not retryable. */
  dispatch(request: OutboxRequest, context: DispatchContext): Promise<Accepted>
  /**
   * The session's events after a cursor, as they come, one array a network chunk. Yields an empty array when the line is
   * proven open and for signs of life without content. Throws `not-found` where there is no feed.
   */
  follow(sessionId: string, cursor: string | null, signal: AbortSignal): AsyncIterable<readonly Envelope[]>
  /** A page of messages; undefined fields of the answer are what the server cannot prove. */
  page(
    sessionId: string,
    query: { after?: string | null; changedSince?: number; before?: string; limit: number },
    signal: AbortSignal,
  ): Promise<MessagePage>
  /** Sessions, newest first. */
  sessions(
    query: { after?: string; limit: number },
    signal: AbortSignal,
  ): Promise<{ sessions: readonly Session[]; hasMore: boolean }>
  close(): Promise<void>
}
