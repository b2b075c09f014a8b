import type { UserMessage } from './schema.ts'

type Besides = Pick<UserMessage, 'name' | 'metadata' | 'output'>

/** What a user message says besides its content: it stays the same when the message is sent again, or in another version. */
export const besides = ({ name, metadata, output }: Besides): Besides => ({
  ...(name !== undefined && { name }),
  ...(metadata && { metadata }),
  ...(output && { output }),
})
