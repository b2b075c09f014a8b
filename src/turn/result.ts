import type { ToolMessage } from '../message/schema.ts'

/** What becomes of a call. */
export interface ToolResult {
  /** What the model gets to read: one line of JSON. */
  text: string
  isError: boolean
  /** The whole, where the text is cut. */
  details?: unknown
}

/** What the model is told of a call that came to nothing. */
export const failure = (error: string): ToolResult => ({
  text: JSON.stringify({ ok: false, error }),
  isError: true,
})

/** A call's message with its result. */
export const settled = (
  message: ToolMessage,
  { text, isError, details }: ToolResult,
  now: number,
): ToolMessage => ({
  ...message,
  status: 'completed',
  content: [{ type: 'text', text }],
  isError,
  ...(details !== undefined && { details }),
  updatedAt: now,
})
