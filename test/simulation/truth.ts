import type { Database } from 'better-sqlite3'
import { isSettled, type Message } from '../../src/message/schema.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { sameJson } from '../../src/protocol/merge.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { emptyState, messageOf, newTrace, type SessionState } from '../../src/protocol/state.ts'

/** A message as it was after an event. */
export interface Version {
  /** The event's number. */
  n: number
  message: Message
}

/** What the server has committed of a session so far. */
export interface SessionTruth {
  id: string
  state: SessionState
  versions: Map<string, Version[]>
  deleted: boolean
  /** Tags of its events, by their number less one. */
  tags: string[]
  /** Versions that a restored backup knows nothing of. */
  former: Map<string, Message[]>
}

/** The server's own story, read from its database after each of its steps. */
export interface Truth {
  session(id: string): SessionTruth
  all(): SessionTruth[]
  /** A session was put back to a backup: its story begins anew, and clients may still tell the former one. */
  restored(id: string): void
  /** Reads what was committed since; returns what contradicts what was told before. */
  refresh(): string[]
}

interface Row {
  n: number
  tag: string
  data: string
}

/** Folds one event in, and notes the versions it makes. */
function fold(truth: SessionTruth, { n, tag, data }: Row): string[] {
  if (n !== (truth.state.cursor?.n ?? 0) + 1) return [`server: event ${n} of ${truth.id} leaves a hole`]
  const event: ChatEvent = JSON.parse(data)
  truth.tags[n - 1] = tag
  const trace = newTrace()
  truth.state = reduce(truth.state, { id: { n, tag }, event }, 0, trace)
  if (truth.state.missing) return [`server: event ${n} of ${truth.id} (${event.type}) does not fit`]
  const problems: string[] = []
  for (const id of new Set([...trace.changed, ...trace.pieces.map(({ messageId }) => messageId)])) {
    const message = messageOf(truth.state, id)
    const versions = truth.versions.get(id) ?? []
    const before = versions.at(-1)?.message
    if (!message) continue
    if (before && isSettled(before) && before.role === 'assistant')
      if (message.status !== before.status || !sameJson(message.content, before.content))
        problems.push(`server: ${id} of ${truth.id} changed after its end, by event ${n} (${event.type})`)
    truth.versions.set(id, [...versions, { n, message }])
  }
  return problems
}

/** What was told of messages before a backup was restored. */
function remember({ former }: SessionTruth, before: SessionTruth): void {
  for (const [id, messages] of before.former) former.set(id, [...messages])
  for (const [id, versions] of before.versions)
    former.set(id, [...(former.get(id) ?? []), ...versions.map(({ message }) => message)])
}

export function createTruth(db: Database): Truth {
  const sessions = new Map<string, SessionTruth>()
  const changes = db.prepare<[], number>('select total_changes()').pluck()
  const known = db.prepare<[], { id: string; events: number; deleted: number }>(
    'select id, events, deleted from sessions',
  )
  const events = db.prepare<[string, number], Row>(
    'select n, tag, data from events where session = ? and n > ? order by n',
  )
  let seen = -1
  const session = (id: string): SessionTruth => {
    const present = sessions.get(id)
    if (present) return present
    const begun = {
      id,
      state: emptyState(id),
      versions: new Map(),
      deleted: false,
      tags: [],
      former: new Map(),
    }
    sessions.set(id, begun)
    return begun
  }
  return {
    session,
    all: () => [...sessions.values()],
    restored(id) {
      seen = -1
      const before = session(id)
      sessions.delete(id)
      remember(session(id), before)
    },
    refresh() {
      const now = changes.get() ?? 0
      if (now === seen) return []
      seen = now
      const problems: string[] = []
      for (const { id, events: last, deleted } of known.all()) {
        const truth = session(id)
        truth.deleted ||= deleted === 1
        const at = truth.state.cursor?.n ?? 0
        if (last < at) problems.push(`server: ${id} went back from event ${at} to ${last}`)
        if (last > at && !truth.deleted)
          for (const row of events.all(id, at)) problems.push(...fold(truth, row))
      }
      return problems
    },
  }
}

/** What of a message is looked at: of a call also what was decided about it. */
const looksLike = (was: Message, message: Message): boolean =>
  was.status === message.status &&
  sameJson(was.content, message.content) &&
  (was.role !== 'tool' ||
    message.role !== 'tool' ||
    (was.stage === message.stage && was.approved === message.approved))

/** Whether a message looked like this before a backup was restored. */
export const isFormer = ({ former }: SessionTruth, message: Message): boolean =>
  (former.get(message.id) ?? []).some((was) => looksLike(was, message))

/** The latest version of a message that looks like this; -1 where it never did. */
export function versionOf(truth: SessionTruth, message: Message): number {
  const versions = truth.versions.get(message.id) ?? []
  return versions.findLastIndex(({ message: was }) => looksLike(was, message))
}
