import type { Message } from '../message/schema.ts'
import type { Estimator } from './estimate.ts'
import type { Provenance } from './recalled.ts'
import type { DropReason } from './sendable.ts'
import type { Item } from './turns.ts'

/** What was done to the copy of a message that is sent; the history keeps the message as it is. */
export type ItemChange = 'compacted' | 'clipped' | 'redacted' | 'superseded'

/** A message of a draft, and what it costs. */
export interface DraftItem extends Readonly<Item> {
  changes?: readonly ItemChange[]
  /** How many secrets were replaced in it. */
  redacted?: number
}

/** A user message and what answers it, and what they cost together. */
export interface DraftTurn {
  items: readonly DraftItem[]
  tokens: number
}

/** What a note is for, in the order in which notes are sent. */
export type NoteKind = 'pins' | 'goal' | 'tasks' | 'memory' | 'summary'

/** A text beside the conversation: it stands behind the instructions, or before the newest question. */
export interface Note {
  kind: NoteKind
  /** As it is sent, its mark included. */
  text: string
  tokens: number
  /** The message that it repeats: it is not sent where that message is, unchanged. */
  of?: string
  /** It is sent in any case. */
  always?: boolean
  /** @default 'system' */
  place?: 'system' | 'question'
  /** Where several of a kind do not fit, the one of the highest rank goes first, of equal ones the first. @default 0 */
  rank?: number
  /** How many secrets were replaced in it. */
  redacted?: number
  /** Of what was recalled. */
  provenance?: Provenance
}

export interface DroppedMessage {
  id: string
  reason: DropReason
  /** As estimated, where it could have been sent. */
  tokens?: number
}

/** A context on its way from the history to what is sent. Policies make a new one; nothing in it is ever changed. */
export interface Draft {
  /** Oldest first. The last one, the newest, stays in any case. */
  turns: readonly DraftTurn[]
  notes: readonly Note[]
  dropped: readonly DroppedMessage[]
  /** Settled messages that no turn has a place for, such as results without their calls. What they say can be sent as a note. */
  loose: readonly Message[]
}

/** What a policy may know beside the draft. */
export interface Space {
  /** Tokens for turns and notes together; `Infinity` without a window. */
  available: number
  estimate: Pick<Estimator, 'text' | 'message'>
}

/** One way to make a context smaller or better: a pure function. What it has nothing to do with it gives back as it came. */
export interface Policy {
  /** For the record of a call. */
  readonly name: string
  apply(draft: Draft, space: Space): Draft
}

export const turnOf = (items: readonly DraftItem[]): DraftTurn => {
  let tokens = 0
  for (const item of items) tokens += item.tokens
  return { items, tokens }
}

/** The draft without its oldest turns. */
export function withoutTurns(draft: Draft, count: number, reason: DropReason): Draft {
  if (count <= 0) return draft
  // Most of a long history goes here: one list, made once.
  const dropped = draft.dropped.slice()
  for (const { items } of draft.turns.slice(0, count))
    for (const { message, tokens } of items) dropped.push({ id: message.id, reason, tokens })
  return { ...draft, turns: draft.turns.slice(count), dropped }
}

export const droppedOf = (items: readonly DraftItem[], reason: DropReason): DroppedMessage[] =>
  items.map(({ message: { id }, tokens }) => ({ id, reason, tokens }))

/** The list with every entry as `change` gives it back; the very same where that is no other. Of a long history most stays. */
function mapped<T>(list: readonly T[], change: (one: T, at: number) => T): readonly T[] {
  let made: T[] | undefined
  let at = 0
  for (const one of list) {
    const next = change(one, at)
    if (next !== one) {
      made ??= list.slice()
      made[at] = next
    }
    at++
  }
  return made ?? list
}

/** The draft with every message as `change` gives it back; the very same where that is no other. `age` of the newest turn is 0. */
export function mapItems(draft: Draft, change: (item: DraftItem, age: number) => DraftItem): Draft {
  const newest = draft.turns.length - 1
  const turns = mapped(draft.turns, (turn, at) => {
    const items = mapped(turn.items, (item) => change(item, newest - at))
    return items === turn.items ? turn : turnOf(items)
  })
  return turns === draft.turns ? draft : { ...draft, turns }
}

/** The draft with more notes; of those that repeat one message, the first. */
export function withNotes(draft: Draft, notes: readonly Note[]): Draft {
  const said = new Set(draft.notes.map(({ of }) => of))
  const fresh = notes.filter(({ of }) => of === undefined || !said.has(of))
  return fresh.length === 0 ? draft : { ...draft, notes: [...draft.notes, ...fresh] }
}

/** A note, and what it costs: a line more for the space around it. */
export const noteOf = (space: Space, kind: NoteKind, text: string, more: Partial<Note> = {}): Note => ({
  kind,
  text,
  tokens: space.estimate.text(text) + 1,
  ...more,
})

/**
 * Makes copies of messages, and remembers them, so that nothing is made or counted twice while a message stays the same. What a
 * copy costs is asked again where an estimator may have learnt.
 */
export function remembered(
  make: (item: DraftItem, space: Space) => DraftItem,
): (item: DraftItem, space: Space) => DraftItem {
  /** No copy where the message stays as it is. */
  const known = new WeakMap<Message, { estimate: Space['estimate']; copy: DraftItem | undefined }>()
  return (item, space) => {
    const present = known.get(item.message)
    if (present?.estimate === space.estimate) {
      const { copy } = present
      if (!copy) return item
      const tokens = space.estimate.message(copy.message)
      return tokens === copy.tokens ? copy : { ...copy, tokens }
    }
    const made = make(item, space)
    known.set(item.message, { estimate: space.estimate, copy: made === item ? undefined : made })
    return made
  }
}

/** No revision of the message any more, so that nobody takes the one for the other; what was counted of it is not its. */
function unmeasured({ rev: _rev, ...message }: Message): Message {
  if (message.role !== 'assistant') return message
  const { usage: _usage, ...rest } = message
  return rest
}

/** An item whose message was changed. */
export function changedItem(
  { as, changes = [] }: DraftItem,
  message: Message,
  change: ItemChange,
  { estimate }: Space,
): DraftItem {
  const made = unmeasured(message)
  return { message: made, as, tokens: estimate.message(made), changes: [...changes, change] }
}
