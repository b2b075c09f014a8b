import { TidemarkError } from '../lib/errors.ts'
import type { Message } from '../message/schema.ts'
import {
  type Draft,
  type DraftItem,
  type DroppedMessage,
  type ItemChange,
  type Note,
  type NoteKind,
  type Policy,
  type Space,
  withoutTurns,
} from './draft.ts'
import { cutToFit } from './fit.ts'
import { type AssembleOptions, type ContextTool, type OpenDraft, openDraft } from './open-draft.ts'
import { placed } from './placed.ts'

/** Why a message is in a context. */
export type IncludeReason =
  /** It holds the instructions: it is in `system`, not in `messages`. */
  | 'system'
  /** The newest user message, and what answers it so far. */
  | 'newest'
  /** An earlier turn, whole. */
  | 'history'
  /** An answer that was cut off, as marked text. */
  | 'interrupted'
  /** Instructions that came in mid-session, as a marked note of the user. */
  | 'note'
  /** Its text is in a note of this kind, not in `messages`. */
  | NoteKind

export interface IncludedMessage {
  id: string
  reason: IncludeReason
  /** As estimated, of what is sent. */
  tokens: number
  /** What was done to the copy that is sent. */
  changes?: readonly ItemChange[]
}

/** What one model call gets to see, and why. Can be given to a model as it is. */
export interface AssembledContext {
  /** The instructions, never cut, and behind them the notes. */
  system?: string
  /** Oldest first: messages of the history themselves, or derived copies that bear the same id. */
  messages: Message[]
  tools?: readonly ContextTool[]
  /** As estimated, everything together. */
  tokens: number
  /** The same before any policy, and before anything was cut. */
  before: number
  /** `tokens` by part: `system`, `tools`, each kind of note, `history`, `newest`. Only what is there. */
  sections: Readonly<Record<string, number>>
  /** Names of the policies that changed something, in their order. */
  policies: readonly string[]
  /** How many secrets were replaced in what is sent. */
  redacted: number
  /** The notes that are sent, in their order. */
  notes: readonly Note[]
  /** Notes for which there was no room. */
  droppedNotes: readonly Note[]
  /** With `dropped`, every message that was given, once. */
  included: IncludedMessage[]
  dropped: DroppedMessage[]
}

const included = ({ message: { id }, as, tokens, changes }: DraftItem, newest: boolean): IncludedMessage => ({
  id,
  reason: as !== 'itself' ? as : newest ? 'newest' : 'history',
  tokens,
  ...(changes && { changes }),
})

/** Messages that are not sent themselves, but in a note. */
function inNotes(notes: readonly Note[], left: readonly Note[], dropped: readonly DroppedMessage[]) {
  const isLost = left.some(({ kind }) => kind === 'summary')
  const told = new Map(notes.map((note) => [note.of, note]))
  const noted: IncludedMessage[] = []
  const rest: DroppedMessage[] = []
  for (const one of dropped) {
    const { id, reason } = one
    const note = reason === 'duplicate' ? undefined : told.get(id)
    if (note) noted.push({ id, reason: note.kind, tokens: note.tokens })
    // A summary that is not sent itself stands for nothing.
    else rest.push(isLost && reason === 'summary' ? { ...one, reason: 'budget' } : one)
  }
  return { noted, rest }
}

/** The draft after all policies, and which of them changed it. */
export function applied(draft: Draft, policies: readonly Policy[], space: Space) {
  const names: string[] = []
  let made = draft
  for (const policy of policies) {
    const next = policy.apply(made, space)
    if (next !== made) names.push(policy.name)
    made = next
  }
  return { draft: made, names }
}

/** Cuts a draft to its room and says what became of each message. `policies` are the names of those that changed it. */
export function closeDraft(opened: OpenDraft, draft: Draft, policies: readonly string[]): AssembledContext {
  const { system, systemId, tools, fixed, room, space } = opened
  const { first, notes, left, tokens } = cutToFit(draft.turns, draft.notes, space.available)
  const constant = fixed.system + fixed.tools
  const needed = constant + tokens
  // Also where somebody counts what is no number.
  if (!(needed <= room))
    throw new TidemarkError(
      'context-overflow',
      `the newest turn needs ${needed} tokens (${constant} of them instructions and tools), there is room for ${room}`,
      { tokens: { needed, available: room } },
    )
  const kept = draft.turns.slice(first)
  const items = kept.flatMap((turn) => turn.items)
  const { noted, rest } = inNotes(notes, left, withoutTurns(draft, first, 'budget').dropped)
  const newest = new Set(kept.at(-1)?.items)
  return {
    ...placed(kept, notes, system),
    ...(tools && { tools }),
    tokens: needed,
    before: constant + opened.draft.turns.reduce((sum, turn) => sum + turn.tokens, 0),
    sections: sectionsOf(fixed, notes, kept),
    policies,
    redacted: redactedIn([...notes, ...items]),
    notes,
    droppedNotes: left,
    included: [
      ...(systemId === undefined ? [] : [{ id: systemId, reason: 'system' as const, tokens: fixed.system }]),
      ...noted,
      ...items.map((item) => included(item, newest.has(item))),
    ],
    dropped: rest,
  }
}

/**
 * Decides what one model call gets to see, from all of the history, anew each time. Pure: nothing that is given is
 * changed, and the same input gives the same output.
 *
 * - Only settled messages of the branch: what failed, is empty or still pending is out; what was cut off goes in as text
 *   with a mark, without its calls, or stays out.
 * - One system prompt, first, never cut; notes that policies made stand behind it.
 * - Turns are sent or dropped whole, oldest first; a call and its result are together or not there.
 * - The newest turn is always in. User messages whose answers are all out may stand side by side.
 * - Where the history does not fit, it goes first; then what was recalled, finished tasks, summaries, the goal, pins.
 *
 * Throws `context-overflow`, with the numbers in `data.tokens`, where instructions, tools and the newest turn alone exceed
 * what the window leaves beside the reserve.
 */
export function assembleContext(options: AssembleOptions): AssembledContext {
  const opened = openDraft(options)
  const { draft, names } = applied(opened.draft, options.policies ?? [], opened.space)
  return closeDraft(opened, draft, names)
}

const redactedIn = (parts: readonly { redacted?: number }[]): number =>
  parts.reduce((sum, { redacted = 0 }) => sum + redacted, 0)

/** What each part costs, of those that are there. */
function sectionsOf(fixed: OpenDraft['fixed'], notes: readonly Note[], turns: Draft['turns']) {
  const sections: Record<string, number> = {}
  const add = (name: string, tokens: number) => {
    if (tokens > 0) sections[name] = (sections[name] ?? 0) + tokens
  }
  add('system', fixed.system)
  add('tools', fixed.tools)
  for (const { kind, tokens } of notes) add(kind, tokens)
  for (const turn of turns) add(turn === turns.at(-1) ? 'newest' : 'history', turn.tokens)
  return sections
}
