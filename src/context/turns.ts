import type { AssistantMessage, Message } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { asNote, callsOf, type DropReason, sendable, withAnsweredCalls } from './sendable.ts'

/** A message in a context. */
export interface Item {
  /** As the model sees it: the message itself, or a derived copy of the same id. */
  message: Message
  /** `interrupted`: cut off, sent as marked text. `note`: later instructions, sent as a note. */
  as: 'itself' | 'interrupted' | 'note'
  /** As estimated, of what is sent; 0 until somebody counts. */
  tokens: number
}

/** A user message and everything that answers it; before the first one, what stands there. */
export type Turn = Item[]

export interface Turns {
  /** Oldest first, none of them empty. */
  turns: readonly Turn[]
  /** The system message that holds the instructions, where the history has one and the options do not. */
  system: { id: string; text: string } | undefined
  dropped: readonly { id: string; reason: DropReason }[]
  /** Of what was dropped, the settled messages that no turn has a place for. */
  loose: readonly Message[]
}

export interface TurnOptions {
  system: string | undefined
  interrupted: 'text' | 'drop'
}

/** An answer with calls, which stands at the end of a turn: behind it come their results. */
interface Step {
  turn: Item[]
  /** Its place in the turn. */
  at: number
  said: AssistantMessage
  calls: number
  /** Calls that may still be answered. */
  open: string[]
}

/** What the walk along a branch remembers. */
interface Walk {
  turns: Item[][]
  dropped: { id: string; reason: DropReason }[]
  loose: Message[]
  system: Turns['system']
  /** Notes wait for what follows them: instructions belong to the turn they were given for, never between call and result. */
  notes: Item[]
  step: Step | undefined
}

/** Puts an item behind all others; gives the turn that it is in. */
function append({ turns }: Walk, item: Item): Item[] {
  const last = turns.at(-1)
  if (!last) {
    const first = [item]
    turns.push(first)
    return first
  }
  last.push(item)
  return last
}

/** No further result can come: what has none is no call. Most answers have all of theirs, and stand where they are. */
function closeStep(walk: Walk): void {
  const { step } = walk
  if (!step) return
  walk.step = undefined
  const { turn, at, said, calls } = step
  if (turn.length - at - 1 === calls) return
  const answered = new Set<string>()
  for (const { message } of turn.slice(at)) if (message.role === 'tool') answered.add(message.toolCallId)
  const message = withAnsweredCalls(said, answered)
  const item = turn[at]
  if (message !== 'dangling') {
    if (item) turn[at] = { ...item, message }
    return
  }
  // Nothing was called, so nothing stands behind it.
  walk.dropped.push({ id: said.id, reason: message })
  turn.pop()
  if (turn.length === 0) walk.turns.pop()
}

/** Whether an open call waits for this result. It does not any more. */
function answers(step: Step | undefined, toolCallId: string): boolean {
  const at = step?.open.indexOf(toolCallId) ?? -1
  if (!step || at === -1) return false
  step.open[at] = step.open.at(-1) ?? ''
  step.open.pop()
  return true
}

function leave({ dropped, loose }: Walk, message: Message, reason: DropReason): void {
  dropped.push({ id: message.id, reason })
  if (reason === 'orphan' || reason === 'interrupted') loose.push(message)
}

function add(walk: Walk, item: Item): void {
  const { message } = item
  if (message.role === 'tool') {
    if (answers(walk.step, message.toolCallId)) walk.step?.turn.push(item)
    else leave(walk, message, 'orphan')
    return
  }
  closeStep(walk)
  if (message.role === 'user') walk.turns.push([...walk.notes, item])
  else for (const note of walk.notes) append(walk, note)
  if (walk.notes.length > 0) walk.notes = []
  if (message.role !== 'assistant') return
  const turn = append(walk, item)
  const ids = callsOf(message)
  if (!ids) return
  // Of calls of the same id, one is answered.
  const open = ids.length > 1 ? [...new Set(ids)] : ids
  walk.step = { turn, at: turn.length - 1, said: message, calls: ids.length, open }
}

/** The first system message holds the instructions, unless the options do; others are notes, unless they say the same. */
function addSystem(walk: Walk, message: Message, given: string | undefined): void {
  const text = textOf(message)
  if (given === undefined && !walk.system) walk.system = { id: message.id, text }
  else if (text === (given ?? walk.system?.text)) walk.dropped.push({ id: message.id, reason: 'duplicate' })
  else walk.notes.push({ message: asNote(message), as: 'note', tokens: 0 })
}

/**
 * The turns of a branch, of what may be sent. A result without its call and a call without its result are left out, so
 * that nothing unpaired can reach a model, however damaged the history is.
 */
export function turnsOf(branch: Iterable<Message>, { system, interrupted }: TurnOptions): Turns {
  const walk: Walk = { turns: [], dropped: [], loose: [], system: undefined, notes: [], step: undefined }
  const ids = new Set<string>()
  for (const message of branch) {
    const { size } = ids
    const view = ids.add(message.id).size === size ? 'duplicate' : sendable(message, interrupted)
    if (typeof view !== 'string') {
      if (view.role === 'system') addSystem(walk, view, system)
      else add(walk, { message: view, as: view === message ? 'itself' : 'interrupted', tokens: 0 })
      continue
    }
    // What follows an answer that is left out does not belong to the one before it.
    if (message.role === 'assistant' && view !== 'duplicate') closeStep(walk)
    leave(walk, message, view)
  }
  closeStep(walk)
  for (const note of walk.notes) append(walk, note)
  return walk
}
