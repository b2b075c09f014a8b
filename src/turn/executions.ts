import type { ToolResult } from './result.ts'

/**
 * What was executed, by the key of the call: answer and place in it. The first to begin a call executes it, everybody else
 * gets its result.
 */
export interface Executions {
  /**
   * Notes that a call is about to be executed. Resolves with nothing for whoever is to execute it; else with its result, or,
   * of a call that was cut off and may not be executed again, with what is to be said of that.
   * @param again whether a call that was cut off may be executed again
   */
  begin(key: string, again: boolean): Promise<ToolResult | undefined>
  /** Notes the result. */
  end(key: string, result: ToolResult): Promise<void>
}
