import * as fc from 'fast-check'
import type { AssistantBlock, Session } from '../../src/message/schema.ts'
import { type ChatEvent, type Envelope, formatEventId, type MessagePage } from '../../src/protocol/events.ts'
import { ACTS, KINDS, type Kind, SESSION, type Server, type Step, T } from './server-model.ts'

/** What the server knew after its first `n` events; taken only where it would answer a request. */
export interface Moment {
  n: number
  page: MessagePage
  runs: readonly string[]
}

export interface History {
  events: readonly ChatEvent[]
  moments: readonly Moment[]
  /** What a failing property prints. */
  [fc.toStringMethod](): string
}

export const tagOf = (n: number): string => `t${n}`

function look({ rows, graves, runs, session, rev, events }: Server): Moment {
  const n = events.length
  const deleted = [...graves].map(([id, rev]) => ({ id, rev }))
  const eventId = n === 0 ? null : formatEventId({ n, tag: tagOf(n) })
  return { n, page: { messages: [...rows.values()], deleted, session, rev, eventId }, runs: [...runs] }
}

export function happen(steps: readonly Step[]): History {
  const session: Session = {
    id: SESSION,
    createdAt: T,
    updatedAt: T,
    metadata: {},
    headId: null,
    rev: 1,
    v: 1,
  }
  const server: Server = {
    rows: new Map(),
    graves: new Map(),
    parents: new Map(),
    runs: new Set(),
    session,
    rev: 1,
    seq: 0,
    ids: 0,
    events: [{ type: 'session.updated', session }],
  }
  const moments = [look(server)]
  for (const step of steps) {
    ACTS[step.kind](server, step, (rows) => rows[step.pick % rows.length])
    moments.push(look(server))
  }
  const print = () => server.events.map((event) => `\n${JSON.stringify(event)}`).join('')
  return { events: server.events, moments, [fc.toStringMethod]: print }
}

export const numbered = (events: readonly ChatEvent[]): Envelope[] =>
  events.map((event, index) => ({ id: { n: index + 1, tag: tagOf(index + 1) }, event }))

export const unnumbered = (events: readonly ChatEvent[]): Envelope[] => events.map((event) => ({ event }))

/** Texts that are cut anywhere, between the halves of a surrogate pair, too. */
export const pieces: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', 'a', 'aa', 'aaa', '\n', '\ud83d', '\ude00', '👩‍🚀', 'e\u0301', '{"a":', '\u2028'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

const stepOf = (kinds: readonly Kind[]): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.oneof(...kinds.map((kind) => ({ weight: KINDS[kind], arbitrary: fc.constant(kind) }))),
    pick: fc.nat(1000),
    text: pieces,
    flag: fc.boolean(),
    block: fc.constantFrom<AssistantBlock['type']>(
      'text',
      'thinking',
      'toolCall',
      'image',
      'source',
      'other',
    ),
  })

/** Whole histories; without `kinds` of everything that can happen. */
export const histories = (
  kinds: readonly Kind[] = Object.keys(KINDS) as Kind[],
  maxLength = 50,
): fc.Arbitrary<History> =>
  fc.array(stepOf(kinds), { minLength: Math.floor(maxLength / 2), maxLength, size: 'max' }).map(happen)

/** What a server without numbers can say: a resumed answer needs a number to be believed. */
export const withoutResume = (Object.keys(KINDS) as Kind[]).filter((kind) => kind !== 'resume')
