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

/** What the model is told of a call that was begun, and of whose end nobody knows. */
export const CUT_OFF = 'cut off before it answered; it may have been carried out'

/** What the model is told of a call that somebody did not allow. */
export const rejection = (reason: string | undefined): ToolResult =>
  failure(`the user did not allow this call${reason ? `: ${reason}` : ''}`)

/** A call's message with its result. What it was executed with is told, where that is not what the model asked for. */
export function settled(message: ToolMessage, result: ToolResult, now: number): ToolMessage {
  const { stage: _, expiresAt: __, attempts: ___, approved: ____, ...rest } = message
  const { isError, details } = result
  const changed = message.arguments === undefined ? '' : `,"arguments":${JSON.stringify(message.arguments)}`
  const text = changed ? `${result.text.slice(0, -1)}${changed}}` : result.text
  return {
    ...rest,
    status: 'completed',
    content: [{ type: 'text', text }],
    isError,
    ...(details !== undefined && { details }),
    updatedAt: now,
  }
}
