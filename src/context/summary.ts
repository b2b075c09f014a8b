import * as z from 'zod/mini'
import { type Message, SCHEMA_VERSION, type UserMessage } from '../message/schema.ts'
import { type DraftTurn, noteOf, type Policy, type Space, withNotes, withoutTurns } from './draft.ts'
import { hashOf } from './hash.ts'

/** A text that stands for the oldest turns of a branch. Derived: the messages stay as they are. */
export const Summary = z.object({
  /** The messages it stands for, oldest first: all that could be sent, whole turns. */
  ids: z.array(z.string()),
  /** Of what they said. A summary of messages that have changed since is none. */
  digest: z.string(),
  text: z.string(),
})
export type Summary = z.infer<typeof Summary>

/** Hashes of messages that were seen already. */
export type Digests = WeakMap<Message, string>

function messageHash(message: Message, known: Digests): string {
  const present = known.get(message)
  if (present !== undefined) return present
  const made = hashOf(JSON.stringify([message.id, message.role, message.content]))
  known.set(message, made)
  return made
}

/** A digest of messages: another one as soon as any of them says something else. */
export const digestOf = (messages: readonly Message[], known: Digests = new WeakMap()): string =>
  hashOf(messages.map((message) => messageHash(message, known)).join())

const messagesIn = (turns: readonly DraftTurn[]): Message[] =>
  turns.flatMap(({ items }) => items.map(({ message }) => message))

/** How many of the turns a summary stands for; 0 where it is not of these, or they have changed. Never all of them. */
export function turnsCovered(
  turns: readonly DraftTurn[],
  { ids, digest }: Pick<Summary, 'ids' | 'digest'>,
  known?: Digests,
): number {
  let at = 0
  for (const [place, { items }] of turns.slice(0, -1).entries()) {
    for (const { message } of items) if (message.id !== ids[at++]) return 0
    if (at === ids.length)
      return digestOf(messagesIn(turns.slice(0, place + 1)), known) === digest ? place + 1 : 0
  }
  return 0
}

/** Of several summaries, the one that stands for most of these turns. */
export function bestSummary(turns: readonly DraftTurn[], all: readonly Summary[], known?: Digests) {
  let best: { summary: Summary; covered: number } | undefined
  for (const summary of all) {
    if (summary.ids.length <= (best?.summary.ids.length ?? 0)) continue
    const covered = turnsCovered(turns, summary, known)
    if (covered > 0) best = { summary, covered }
  }
  return best
}

/**
 * Puts a summary in the place of the turns it stands for; nothing where these have changed, or are not all there. It compares
 * them as they are in the history: it comes before policies that change messages, or is told how many turns there are.
 */
export const summarised = (summary: Summary, turns?: number): Policy => ({
  name: 'summarize',
  apply(draft, space) {
    const covered = turns ?? turnsCovered(draft.turns, summary)
    if (covered === 0) return draft
    const text = `[summary of the conversation so far] ${summary.text.trim()}`
    return withNotes(withoutTurns(draft, covered, 'summary'), [noteOf(space, 'summary', text)])
  },
})

export interface SummaryThresholds {
  /** More messages than this that no summary stands for call for one. @default 30 */
  messages?: number
  /** More than this part of the room, too. @default 0.7 */
  share?: number
  /** Turns that stay whole. @default 5 */
  turns?: number
}

/** What is to be summarised next. */
export interface SummaryPlan {
  /** What the new summary will stand for: what the present one does, and more. */
  ids: readonly string[]
  digest: string
  /** How many turns, from the oldest. */
  covered: number
  /** The first turn that the present one does not stand for. */
  from: number
}

/** A part too small to be worth a call: of the messages of the threshold, or of the room. */
const WORTH_MESSAGES = 1 / 3
const WORTH_SHARE = 0.1
/** The part of the room that a model gets to summarise at once. */
const AT_ONCE = 0.5

/**
 * Whether it is time for a summary, or for a longer one, and of what: all turns but the newest, as much as one call can read.
 * `turns` as they are in the history, `sizes` what they cost as they would be sent.
 */
export function planSummary(
  turns: readonly DraftTurn[],
  sizes: readonly number[],
  covered: number,
  { available }: Pick<Space, 'available'>,
  { messages = 30, share = 0.7, turns: kept = 5 }: SummaryThresholds,
  known?: Digests,
): SummaryPlan | undefined {
  const rest = turns.slice(covered)
  const candidates = rest.slice(0, Math.max(0, rest.length - Math.max(1, kept)))
  if (candidates.length === 0) return undefined
  const count = (some: readonly DraftTurn[]) => some.reduce((sum, { items }) => sum + items.length, 0)
  const size = (from: number, to: number) => sizes.slice(from, to).reduce((sum, tokens) => sum + tokens, 0)
  const long = count(rest) > messages && count(candidates) >= messages * WORTH_MESSAGES
  const large =
    size(covered, turns.length) > available * share &&
    size(covered, covered + candidates.length) >= available * WORTH_SHARE
  if (!long && !large) return undefined
  let end = covered + 1
  while (end < covered + candidates.length && size(covered, end + 1) <= available * AT_ONCE) end++
  const stood = messagesIn(turns.slice(0, end))
  return { ids: stood.map(({ id }) => id), digest: digestOf(stood, known), covered: end, from: covered }
}

/** What stands before a summary that is to be extended. */
const SO_FAR = '[summary so far]'

/**
 * What a summariser is given: the present summary, where there is one, as a message of the user; then the messages since,
 * pinned ones without their text, since that never goes through a summary.
 */
export function summaryInput(
  turns: readonly DraftTurn[],
  { from, covered }: Pick<SummaryPlan, 'from' | 'covered'>,
  present: string | undefined,
  pinned: ReadonlySet<string>,
): Message[] {
  const messages = messagesIn(turns.slice(from, covered)).map((message) =>
    pinned.has(message.id) ? withoutText(message) : message,
  )
  const [first] = messages
  return first && present !== undefined ? [soFar(first, `${SO_FAR}\n${present}`), ...messages] : messages
}

const PINNED = '[pinned: kept word for word elsewhere]'

function withoutText(message: Message): Message {
  const hide = <B extends { type: string }>(block: B): B =>
    block.type === 'text' ? { ...block, text: PINNED } : block
  switch (message.role) {
    case 'assistant':
      return { ...message, content: message.content.map(hide) }
    case 'user':
      return { ...message, content: message.content.map(hide) }
    case 'tool':
      return { ...message, content: message.content.map(hide) }
    case 'system':
      return message
  }
}

const soFar = ({ sessionId, createdAt, updatedAt }: Message, text: string): UserMessage => ({
  id: 'summary',
  sessionId,
  parentId: null,
  role: 'user',
  status: 'completed',
  content: [{ type: 'text', text }],
  createdAt,
  updatedAt,
  v: SCHEMA_VERSION,
})
