import type { DraftTurn, Note, NoteKind } from './draft.ts'

/** What goes first where not even the newest turn and all notes fit. Pins are facts that nobody can make again. */
const LEAST_FIRST: readonly NoteKind[] = ['memory', 'tasks', 'summary', 'goal', 'pins']

/** For each note, the place of the turn that says the same; -1 where none does. */
function placesOf(turns: readonly DraftTurn[], notes: readonly Note[]): number[] {
  const wanted = new Map<string, number>()
  for (const { of } of notes) if (of !== undefined) wanted.set(of, -1)
  if (wanted.size > 0)
    for (const [place, { items }] of turns.entries())
      for (const { message, changes } of items)
        if (wanted.has(message.id) && (changes ?? []).every((change) => change === 'redacted'))
          wanted.set(message.id, place)
  return notes.map(({ of, always }) => (always || of === undefined ? -1 : (wanted.get(of) ?? -1)))
}

export interface Fitted {
  /** Place of the oldest turn that is sent. */
  first: number
  /** What is sent of the notes, in the order given. */
  notes: readonly Note[]
  /** Notes for which there was no room. */
  left: readonly Note[]
  /** Of turns and notes that are sent. */
  tokens: number
}

/** The notes to take away, the least needed first, so that the others fit. */
function excess(notes: readonly Note[], tokens: number): Note[] {
  let over = tokens
  return LEAST_FIRST.flatMap((kind) =>
    notes.filter((note) => note.kind === kind).toSorted((a, b) => (b.rank ?? 0) - (a.rank ?? 0)),
  ).filter((note) => {
    const goes = over > 0
    if (goes) over -= note.tokens
    return goes
  })
}

/**
 * What of turns and notes fits: the newest turns, without a hole between them, the last one in any case; a note that repeats
 * a message only where that is not sent itself. History goes first, then what was recalled, summaries, the goal, pins.
 * `tokens` exceeds `available` only where the last turn alone does.
 */
export function cutToFit(turns: readonly DraftTurn[], notes: readonly Note[], available: number): Fitted {
  const places = placesOf(turns, notes)
  const last = Math.max(0, turns.length - 1)
  const cost = new Array<number>(turns.length).fill(0)
  let tokens = 0
  for (const { tokens: own } of turns) tokens += own
  for (const [at, note] of notes.entries()) {
    const place = places[at] ?? -1
    if (place < 0) tokens += note.tokens
    else cost[place] = (cost[place] ?? 0) + note.tokens
  }
  let first = 0
  while (first < last && tokens > available) {
    tokens += (cost[first] ?? 0) - (turns[first]?.tokens ?? 0)
    first++
  }
  const due = notes.filter((_, at) => (places[at] ?? -1) < first)
  const left = excess(due, tokens - available)
  for (const note of left) tokens -= note.tokens
  return { first, tokens, notes: due.filter((note) => !left.includes(note)), left }
}
