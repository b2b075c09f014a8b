import type { AssistantBlock, Message } from '../message/schema.ts'
import type { JournalEntry } from './ports.ts'

/** A message with the pieces of its journal added. Entries come in any order; what is already there, or torn off by a hole, is left out. */
export declare function foldJournal(message: Message, entries: readonly JournalEntry[]): Message
export type { AssistantBlock }
