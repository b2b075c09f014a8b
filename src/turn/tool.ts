/** Executes one call. Throwing, or returning a rejected promise, becomes an error result for the model. */
export type ToolExecute = (
  args: unknown,
  context: { signal: AbortSignal; toolCallId: string },
) => unknown | Promise<unknown>

/** A function the model may call. */
export interface Tool {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Readonly<Record<string, unknown>>
  execute: ToolExecute
}
