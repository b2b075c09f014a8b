import * as z from 'zod/mini'
import { AssistantBlock, Id, type Message } from '../message/schema.ts'
import { growingText } from '../protocol/delta.ts'
import { messageOf, type Piece, putMessages, type SessionState } from '../protocol/state.ts'
import { entriesOf } from './batch.ts'
import { update } from './core.ts'
import { foldJournal } from './journal.ts'
import type { JournalEntry } from './ports.ts'
import type { Room } from './room.ts'

/**
 * What an answer grew by, as one tab tells it to the others before it is stored: an entry of the journal, the revision it grew
 * from, and how long the block before is, by which whoever opens the next one knows that it has all of that.
 */
const Told = z.object({
  sessionId: Id,
  messageId: Id,
  index: z.number(),
  offset: z.number(),
  text: z.string(),
  block: z.optional(AssistantBlock),
  rev: z.optional(z.number()),
  before: z.optional(z.number()),
})
export type Told = z.infer<typeof Told>

/** What other tabs are told of an update. */
export const toldOf = (state: SessionState, pieces: readonly Piece[]): Told[] =>
  entriesOf(state, pieces).map((entry) => {
    const message = messageOf(state, entry.messageId)
    return { ...entry, rev: message?.rev, before: lengthBefore(message, entry) }
  })

/** How long the block before is, in UTF-16 units, where it is one that grows. */
function lengthBefore(message: Message | undefined, { index }: JournalEntry): number | undefined {
  const block = message?.role === 'assistant' ? message.content[index - 1] : undefined
  return block && growingText(block)?.length
}

/**
 * Shows what the tab that leads has heard. What does not follow what is known here, or belongs to another version of its
 * message, is left out: it is read once it is stored. Nothing of it is written by this tab.
 */
export function hearTold(room: Pick<Room, 'core' | 'leading'> | undefined, given: unknown): void {
  if (!room || room.leading) return
  const { core } = room
  const { data = [] } = z.array(Told).safeParse(given)
  for (const entry of data)
    update(
      core,
      (state, trace) => {
        const message = state.live.get(entry.messageId)
        if (message?.role !== 'assistant' || message.rev !== entry.rev) return state
        const isTorn = entry.before !== undefined && entry.before !== lengthBefore(message, entry)
        if (isTorn && !message.content[entry.index]) return state
        const grown = putMessages(state, [foldJournal(message, [entry])], trace)
        // The events that made it so, this tab may still hear itself.
        return grown === state || grown.ahead ? grown : { ...grown, ahead: true }
      },
      'stored',
    )
}
