import type { CallRecord } from '../context/call-record.ts'
import type { ContextView } from '../context/view.ts'
import type { Store } from '../lib/cell.ts'
import type { Env } from '../lib/env.ts'
import type { ErrorData } from '../lib/error-data.ts'
import type { Schema } from '../lib/standard-schema.ts'
import type { Message, Session, ToolMessage, UserBlock } from '../message/schema.ts'
import type { WhenBusy } from '../protocol/commands.ts'
import type { Platform } from './platform.ts'
import type { ChatStorage } from './ports.ts'
import type { Runtime } from './runtime-port.ts'

export interface ChatOptions {
  runtime: Runtime
  /** Where the history is kept: `dexieStorage(name)` in a browser, `memoryStorage()` for tests and on servers. */
  storage: ChatStorage
  /** Who the user is; scopes cursors, locks and the outbox. @default 'default' */
  account?: string
  /** @default the platform's clock and randomness */
  env?: Partial<Env>
  /** The page that the chat lives in: a test brings its own. @default globalThis */
  platform?: Platform
}

/** The state of the line to whatever answers. */
export type Connection = 'idle' | 'connecting' | 'online' | 'reconnecting' | 'offline'

/** What a session looks like now. Immutable: the same object until something changes. */
export interface SessionSnapshot {
  id: string
  session: Session | undefined
  /** The selected branch as far as it is loaded, oldest first, then what is not yet sent. */
  messages: readonly Message[]
  /** Calls that wait to be allowed (`approve`, `reject`) or for a result (`toolResult`), on whatever branch. */
  waiting: readonly ToolMessage[]
  /**
   * `loading` until the stored part is read; `running` while a run is in flight; `stalled` where another tab runs it, of which
   * nothing is heard (it is frozen, say): it goes on when that one wakes, or here by `takeOver()`.
   */
  status: 'loading' | 'ready' | 'running' | 'stalled'
  connection: Connection
  /** Whether `loadOlder()` would find more. */
  hasOlder: boolean
  /** Id of the newest message up to which everything is settled and known to be complete. */
  tidemark: string | null
  /**
   * `not-found`: the session was deleted, here or elsewhere (then `messages` holds what was not sent, and nothing else), or
   * the server does not know it any more. Else what the server answers where trying again will not help: `auth`,
   * `protocol` and the like. It goes when an answer comes.
   */
  error?: ErrorData | undefined
}

export interface SendOptions {
  /**
   * What it does to a run in flight: wait for its end; `steer`, so that the model reads it the next time it is called; end that
   * run (`interrupt`); or be refused. What was said before goes first, and all of it is stored.
   * @default 'queue'
   */
  whenBusy?: WhenBusy
  /**
   * The message's id, at most 60 characters: what is sent again under one that is there already is not, and `answer` is that of
   * the first. Throws `conflict` where that is not a user's. @default a new one
   */
  id?: string
  /** What the session is created with, where this is the first that is said in it. */
  session?: { title?: string; metadata?: Record<string, unknown> }
  metadata?: Record<string, unknown>
  /** Whether this is the task from now on, instead of earlier ones: kept as `metadata.goal`, which `goalNote` goes by. @default false */
  goal?: boolean
  /**
   * What the answer has to be: JSON Schema, or a schema of zod, Valibot, ArkType or the like, also with more said of it. The
   * schema is kept with the message, as JSON Schema. An answer that does not fit ends as `failed` with the code
   * `invalid-output`, its text kept. `readOutput` gives the value, `liveOutput` as it is written.
   */
  output?: Schema | OutputOptions
}

/** What an answer has to be, and what is to be done about it. */
export interface OutputOptions {
  schema: Schema
  /** The schema as JSON Schema, where its library cannot say that itself: `zod/mini` (`z.toJSONSchema(schema)`), Valibot. */
  jsonSchema?: object
  /** For the model: what this is. @default 'output' */
  name?: string
  /** Whether the provider is to hold the model to the schema, where it can; not every schema is fit for that. @default false */
  strict?: boolean
  /**
   * Whether the model is shown, once, what is wrong with an answer that does not fit: the answer is then begun anew, in the
   * same message. @default false
   */
  repair?: boolean
}

/** What a user may send: text, or blocks. */
export type UserInput = string | readonly UserBlock[]

export interface Sent {
  /** The message's id, which is its idempotency key. */
  id: string
  /** `disk` only after message and outbox row are committed in one transaction. */
  saved: 'disk' | 'memory'
  /**
   * The assistant message that ended the run: `completed`, `failed` or `interrupted`.
   * Rejects with `TidemarkError` where the message was refused; with `aborted` where it was discarded, or stopped before
   * anything was said, or the chat closed before the answer came; with `not-found` where the session was deleted.
   */
  answer: Promise<Message>
}

/** What came of a call, as plain JSON, or what went wrong. */
export type CallResult = { data: unknown } | { error: string }

/** One message, watched alone. */
export interface MessageStore extends Store<Message | undefined> {
  /** Calls with what was appended to a block, and only that; `offset` in UTF-16 units. Returns the function that ends it. */
  onAppend(listener: (piece: { index: number; offset: number; text: string }) => void): () => void
}

/** After `close()` every call rejects with `aborted`; in a deleted session all but `stop`, `delete` and
 * `discard` do with `not-found`. */
export interface ChatSession extends Store<SessionSnapshot> {
  readonly id: string
  /** One message's store; the same object for the same id. */
  message(id: string): MessageStore
  /** Resolves after the local commit, never waits for the answer. Throws `invalid-request` for empty input. */
  send(input: UserInput, options?: SendOptions): Promise<Sent>
  /** Ends the run in flight, and what was sent here to wait behind it; the partial answer is kept as `interrupted`. */
  stop(): Promise<void>
  /**
   * Runs what is in flight here, in the place of a tab of which nothing is heard (`stalled`): what that one had begun is gone on
   * with where it can be, else ended, and what it would still write does not count. Resolves when this tab leads the session.
   * Throws `conflict` where the session is not stalled.
   */
  takeOver(): Promise<void>
  /** Sends a refused message again, or asks for a new answer beside a failed or interrupted one. */
  retry(messageId: string): Promise<Sent>
  /** A new answer beside `messageId`. */
  regenerate(messageId: string): Promise<Sent>
  /**
   * A new answer beside one that was cut off (`interrupted`, `failed`, or stopped by `length`), that goes on from its text: the
   * provider takes that as the beginning where it can (`capabilities.prefill`), else a note asks for the rest. Its first block
   * is that text, what the model says now comes after it; `continues` names the other, which stays as it is.
   * Throws `invalid-request` for any other message.
   */
  continue(messageId: string): Promise<Sent>
  /** A new version of a user message beside the old one, and its answer. */
  edit(messageId: string, input: UserInput): Promise<Sent>
  /**
   * Allows a call that waits for that, by its id or that of its tool message; `arguments` are what it is executed with
   * instead of its own. Of several answers to one call, from whatever tabs and devices, the first counts: what it was is
   * seen in the call's message. Resolves after the local commit. Throws `not-found` where no such call waits,
   * `invalid-request` for what JSON cannot say, and for null.
   */
  approve(callId: string, options?: { arguments?: unknown }): Promise<void>
  /** Does not allow it: it is not executed, and the model is told so. Else like `approve`. */
  reject(callId: string, reason?: string): Promise<void>
  /** Brings the result of a call whose tool is not executed where the run is. Else like `approve`. */
  toolResult(callId: string, result: CallResult): Promise<void>
  /** Ids of the siblings of a message, itself included, oldest first. */
  branches(messageId: string): readonly string[]
  selectBranch(messageId: string): Promise<void>
  /** Gives up a message that is refused or waits: it leaves the outbox and the list. Throws `conflict` once it was accepted. */
  discard(messageId: string): Promise<void>
  /** Reads older messages, where there are any. Throws what the server's answer throws. */
  loadOlder(): Promise<void>
  /**
   * Asks the server for what is missing, now; resolves when it is there, however long nobody can be reached. In a tab that another
   * one leads the session for, throws what the server's answer throws, where trying again will not help.
   */
  resync(): Promise<void>
  /**
   * What the model would get to see if it were asked now, with reasons and numbers: what the runtime's own `context` makes of
   * the selected branch. Nobody is asked for a summary. Throws `not-found` where a server decides that, as with `remote`; what
   * the `context` throws, such as `context-overflow`.
   */
  context(): Promise<ContextView>
  /**
   * What was sent to the model and what came back, call by call, the newest last: as far as it is kept, here or by the server.
   * Empty where a server keeps none. Throws what the storage, or the server's answer, throws.
   */
  calls(): Promise<readonly CallRecord[]>
  rename(title: string): Promise<void>
  delete(): Promise<void>
}

/** How a chat fares. The same object until something changes. */
export interface Health {
  /**
   * `failed` from the first failure of the storage to its next success: meanwhile the chat works from memory and from the
   * network. `memory`: the storage is one that does not outlive the page.
   */
  storage: 'disk' | 'memory' | 'failed'
  /** The lines of all open sessions as one: `offline` outranks `reconnecting`, that `connecting`, that `online`. */
  connection: Connection
  /** Whether the browser promised not to evict what is stored; absent until asked, at the first send. */
  persisted?: boolean
  /** Rows of the open sessions that wait to be sent, or were refused and wait for `retry` or `discard`. */
  outbox: number
  /**
   * Events and stored rows that could not be read since the chat was made. Such a row stays where it is, and a copy of it
   * is in `storage.records('quarantine')`; a message is fetched again where a server has it.
   */
  quarantined: number
  /** What went wrong last that nobody waited for; stays when it is over. */
  lastError?: ErrorData
}

export interface Chat {
  /** Known sessions, newest first: to begin with the newest 50 that are stored, and as many of the server's. */
  readonly sessions: Store<readonly Session[]>
  readonly health: Store<Health>
  /**
   * The session of that id, opened at its first use, created at its first send; the same object for the same id.
   * Throws `invalid-request` for a malformed id, `aborted` for a new one after `close()`. @default a new id
   */
  session(id?: string): ChatSession
  /**
   * Lists older sessions, where there are any, up to 50 that are stored and as many of the server's. Resolves with whether there
   * were. Throws what the server's answer throws, `aborted` after `close()`.
   */
  loadOlder(): Promise<boolean>
  /** Ends connections, flushes what is not yet written, closes the storage. Runs on a server go on. */
  close(): Promise<void>
}
