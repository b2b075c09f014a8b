import type { Message } from '../message/schema.ts'
import type { DraftTurn, Note, NoteKind } from './draft.ts'

const ORDER: readonly NoteKind[] = ['pins', 'goal', 'tasks', 'memory', 'summary']

const textOfNotes = (notes: readonly Note[]): string =>
  notes
    .toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    .map(({ text }) => text)
    .join('\n\n')

/** The question with notes before it. */
const withNote = (question: Message, text: string): Message =>
  question.role === 'user'
    ? { ...question, content: [{ type: 'text', text: `${text}\n\n` }, ...question.content] }
    : question

/**
 * What is sent, in its order: the instructions, then the notes, then the turns; notes that are to stand near the question
 * right before it, so that they are not lost in the middle of a long context.
 */
export function placed(turns: readonly DraftTurn[], notes: readonly Note[], system: string | undefined) {
  const question = turns.at(-1)?.items.find(({ message, as }) => message.role === 'user' && as === 'itself')
  const near = question ? notes.filter(({ place }) => place === 'question') : []
  const top = near.length > 0 ? notes.filter((note) => !near.includes(note)) : notes
  const messages: Message[] = []
  for (const { items } of turns)
    for (const item of items)
      messages.push(
        item === question && near.length > 0 ? withNote(item.message, textOfNotes(near)) : item.message,
      )
  const parts = [system, textOfNotes(top)].filter((part) => part)
  // Instructions that are the empty text are still instructions.
  const text = parts.length > 0 ? parts.join('\n\n') : system
  return { messages, ...(text !== undefined && { system: text }) }
}
