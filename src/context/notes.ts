import type { Message, UserMessage } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { clipText } from './clip.ts'
import {
  changedItem,
  type DraftItem,
  mapItems,
  type Note,
  type NoteKind,
  noteOf,
  type Policy,
  remembered,
  type Space,
  withNotes,
} from './draft.ts'
import { withoutSteps } from './policies.ts'
import type { Recalled } from './recalled.ts'

export interface PinOptions {
  /** Which messages are pinned. @default those whose metadata has `pinned: true` */
  isPinned?: (message: Message) => boolean
  /** What is to be known in any case, word for word. */
  facts?: readonly string[]
}

const hasMark = (message: Message, name: string): boolean => message.metadata?.[name] === true

/**
 * Pinned facts and messages are never dropped, shortened or summarised: where a pinned message is not in the context as it
 * is, its text stands behind the instructions, word for word: also that of a result whose call is gone, and of an answer that was
 * cut off. Where there is no room for all of them, the last resort, `droppedNotes` says which are not there. Must come before policies that change messages.
 */
export const pins = ({
  isPinned = (message) => hasMark(message, 'pinned'),
  facts = [],
}: PinOptions = {}): Policy => ({
  name: 'pins',
  apply(draft, space) {
    const notes = facts.map((fact) => noteOf(space, 'pins', `[pinned] ${fact}`))
    const pin = (message: Message) => {
      const text = isPinned(message) ? textOf(message) : ''
      if (text.trim() === '') return
      const origin = message.role === 'tool' ? ` ${message.toolName}:` : ''
      notes.push(noteOf(space, 'pins', `[pinned]${origin} ${text}`, { of: message.id }))
    }
    for (const { items } of draft.turns) for (const { message } of items) pin(message)
    for (const message of draft.loose) pin(message)
    return withNotes(draft, notes)
  },
})

export interface GoalOptions {
  /** The task in words, where the app knows it. */
  goal?: string
  /** Which user messages set a new goal. @default those whose metadata has `goal: true` */
  isGoal?: (message: UserMessage) => boolean
}

/** Characters of a task that is restated. */
const GOAL = 2_000

/** An earlier task, as what it is now. */
function superseded(item: DraftItem, space: Space): DraftItem {
  const { message } = item
  if (message.role !== 'user') return item
  const content = [
    { type: 'text' as const, text: '[an earlier task, superseded by a later message]\n' },
    ...message.content,
  ]
  return changedItem(item, { ...message, content }, 'superseded', space)
}

/**
 * The user's task, restated behind the instructions. It is what the newest message says that sets a goal, else the first
 * message; a new goal supersedes the old one: the note says so, and what set the old one is marked where it is still in the
 * history (`superseded` among its changes). A first goal is restated only where its message is not sent itself.
 */
export const goalNote = ({
  goal,
  isGoal = (message) => hasMark(message, 'goal'),
}: GoalOptions = {}): Policy => {
  const supersede = remembered(superseded)
  return {
    name: 'goal',
    apply(draft, space) {
      if (goal !== undefined) return withNotes(draft, [noteOf(space, 'goal', `[task] ${goal}`)])
      // The first message, and each that sets a new goal; the last of them stands.
      const tasks: Message[] = []
      for (const { items } of draft.turns)
        for (const { message, as } of items)
          if (message.role === 'user' && as === 'itself' && (tasks.length === 0 || isGoal(message)))
            tasks.push(message)
      const set = tasks.pop()
      const text = set ? textOf(set).trim() : ''
      if (!set || text === '') return draft
      const changed = tasks.length > 0
      const old = new Set(tasks)
      const marked = changed
        ? mapItems(draft, (item) => (old.has(item.message) ? supersede(item, space) : item))
        : draft
      if (draft.turns.at(-1)?.items.some(({ message }) => message === set)) return marked
      const mark = changed ? '[task, instead of earlier ones]' : '[task]'
      const more = { of: set.id, ...(changed && { always: true }) }
      return withNotes(marked, [noteOf(space, 'goal', `${mark} ${clipText(text, GOAL)}`, more)])
    },
  }
}

/** A part of the conversation that is over, and what came of it. */
export interface FinishedTask {
  /** Its first message. */
  from: string
  /** Its last message. */
  to: string
  /** What is left to know of it, in a line. */
  line: string
}

/** Of items in their order, those from one place to another that go together: a call with its results, or neither. */
function wholeSteps(items: readonly DraftItem[], start: number, end: number): readonly DraftItem[] {
  const isResult = (at: number) => items[at]?.message.role === 'tool'
  let [from, to] = [start, end + 1]
  while (from < to && isResult(from)) from++
  // Results that come later keep their call, and so the results before them.
  while (to > from && isResult(to)) to--
  return items.slice(from, to)
}

/** Where in a list these messages stand. */
function placesIn(items: readonly DraftItem[], ids: ReadonlySet<string>): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (const [at, { message }] of items.entries()) if (ids.has(message.id)) places.set(message.id, at)
  return places
}

/**
 * One line for each finished task in place of its messages. What is only partly in it stays: a call goes with its results or
 * not at all. So does the newest turn. A task has a line where its messages are there, or went into a summary.
 */
export const finishedTasks = (
  tasks: readonly FinishedTask[] | ((messages: readonly Message[]) => readonly FinishedTask[]),
): Policy => ({
  name: 'tasks',
  apply(draft, space) {
    const items = draft.turns.flatMap((turn) => turn.items)
    const given = typeof tasks === 'function' ? tasks(items.map(({ message }) => message)) : tasks
    const places = placesIn(items, new Set(given.flatMap(({ from, to }) => [from, to])))
    const summarised = new Set(draft.dropped.flatMap(({ id, reason }) => (reason === 'summary' ? [id] : [])))
    const earlier = items.slice(0, items.length - (draft.turns.at(-1)?.items.length ?? 0))
    const notes: Note[] = []
    const gone = new Set<DraftItem>()
    for (const { from, to, line } of given) {
      const start = places.get(from)
      const over =
        start === undefined
          ? []
          : wholeSteps(earlier, start, places.get(to) ?? -1).filter((item) => !gone.has(item))
      for (const item of over) gone.add(item)
      if (over.length > 0 || (start === undefined && summarised.has(from)))
        notes.push(noteOf(space, 'tasks', `[done] ${line}`))
    }
    return withNotes(withoutSteps(draft, gone, 'task'), notes)
  },
})

/**
 * A list in an order in which its best are not lost in the middle: given best first, the best stand at the two ends.
 * Models use best what stands first and last (Liu et al. 2023, "Lost in the Middle").
 */
export function edgesFirst<T>(ranked: readonly T[]): T[] {
  const head: T[] = []
  const tail: T[] = []
  for (const [rank, item] of ranked.entries()) (rank % 2 === 0 ? head : tail).push(item)
  return [...head, ...tail.reverse()]
}

/** What somebody's memory found, the nearest first, each with where it is from; nothing that is sent anyway. */
export const recalled = (found: readonly Recalled[]): Policy => ({
  name: 'recall',
  apply(draft, space) {
    const known = new Set<string>()
    const fresh = found.filter(({ text }) => text.trim() !== '' && !known.has(text) && known.add(text))
    const notes = fresh.map(({ text, provenance }, rank) => {
      const { kind, id, source } = provenance
      const mark = source === undefined ? '[from memory]' : `[from memory: ${source}]`
      return noteOf(space, 'memory', `${mark} ${text}`, {
        rank,
        provenance,
        ...(kind === 'message' && { of: id }),
      })
    })
    return withNotes(draft, edgesFirst(notes))
  },
})

/** Puts notes of these kinds right before the newest question instead of behind the instructions. */
export const nearQuestion = (kinds: readonly NoteKind[] = ['memory']): Policy => ({
  name: 'nearQuestion',
  apply(draft) {
    if (!draft.notes.some(({ kind }) => kinds.includes(kind))) return draft
    const notes = draft.notes.map((note) =>
      kinds.includes(note.kind) ? { ...note, place: 'question' as const } : note,
    )
    return { ...draft, notes }
  },
})
