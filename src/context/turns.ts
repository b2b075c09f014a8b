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
}

export interface TurnOptions {
  system: string | undefined
  interrupted: 'text' | 'drop'
}

/** What the walk along a branch remembers. */
interface Walk {
  turns: Item[][]
  dropped: { id: string; reason: DropReason }[]
  system: Turns['system']
  /** Notes wait for what follows them: instructions belong to the turn they were given for, never between call and result. */
  notes: Item[]
  /** The assistant message whose results may come now. */
  step: { item: Item; said: AssistantMessage; open: Set<string>; results: Item[] } | undefined
}

function append(walk: Walk, items: readonly Item[]): void {
  const last = walk.turns.at(-1)
  if (last) for (const item of items) last.push(item)
  else if (items.length > 0) walk.turns.push([...items])
}

/** No further result can come: what has none is no call. */
function closeStep(walk: Walk): void {
  const { step } = walk
  if (!step) return
  walk.step = undefined
  const answered = new Set<string>()
  for (const { message } of step.results) if (message.role === 'tool') answered.add(message.toolCallId)
  const message = withAnsweredCalls(step.said, answered)
  if (message === 'dangling') walk.dropped.push({ id: step.said.id, reason: message })
  else append(walk, [{ ...step.item, message }, ...step.results])
}

function add(walk: Walk, item: Item): void {
  const { message } = item
  if (message.role === 'tool') {
    if (walk.step?.open.delete(message.toolCallId)) walk.step.results.push(item)
    else walk.dropped.push({ id: message.id, reason: 'orphan' })
    return
  }
  closeStep(walk)
  if (message.role === 'user') walk.turns.push([...walk.notes, item])
  else append(walk, walk.notes)
  if (walk.notes.length > 0) walk.notes = []
  if (message.role !== 'assistant') return
  const open = callsOf(message)
  if (open) walk.step = { item, said: message, open, results: [] }
  else append(walk, [item])
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
  const walk: Walk = { turns: [], dropped: [], system: undefined, notes: [], step: undefined }
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
    walk.dropped.push({ id: message.id, reason: view })
  }
  closeStep(walk)
  append(walk, walk.notes)
  return walk
}
