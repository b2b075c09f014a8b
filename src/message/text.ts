import type { Message } from './schema.ts'

/**
 * The readable text of a message: its text blocks, joined by nothing where the model split them and no more.
 * A projection for display and search; thinking, calls and media are left out and nothing is ever rebuilt from it.
 */
export function textOf(message: Pick<Message, 'content'>): string {
  let text = ''
  for (const block of message.content) if (block.type === 'text') text += block.text
  return text
}
