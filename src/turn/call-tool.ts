import { errorData } from '../lib/errors.ts'
import type { ToolCallBlock } from '../message/schema.ts'
import { type Gate, STOPPED } from './gate.ts'
import type { Tool } from './tool.ts'

/** What the model gets to read of a call: one line of JSON. */
export interface ToolResult {
  text: string
  isError: boolean
}

const failure = (error: string): ToolResult => ({
  text: JSON.stringify({ ok: false, error }),
  isError: true,
})

/** A tool that returns nothing that JSON can say did its work all the same: null stands for it. */
const success = (data: unknown): ToolResult => ({
  text: `{"ok":true,"data":${JSON.stringify(data) ?? 'null'}}`,
  isError: false,
})

/** Why a call is not executed at all; undefined where it may be. */
function objection(call: ToolCallBlock, tool: Tool | undefined): string | undefined {
  if (!tool) return `there is no tool named ${JSON.stringify(call.name)}`
  if (call.arguments === undefined)
    return call.rawArguments === undefined
      ? 'the call has no arguments'
      : 'the arguments are not complete, valid JSON; the tool was not executed'
  const isObject =
    typeof call.arguments === 'object' && call.arguments !== null && !Array.isArray(call.arguments)
  if (tool.parameters.type === 'object' && !isObject) return 'the arguments must be a JSON object'
  return undefined
}

/**
 * Executes one call and never throws: whatever goes wrong is told to the model, which may correct itself. A call that was
 * stopped is answered, too, since nobody knows how far it came.
 */
export async function callTool(call: ToolCallBlock, tool: Tool | undefined, gate: Gate): Promise<ToolResult> {
  const refused = objection(call, tool)
  if (refused !== undefined || !tool) return failure(refused ?? 'unknown tool')
  const { signal } = gate
  if (signal.aborted) return failure('the run was stopped before the tool was executed')
  try {
    const work = Promise.resolve(tool.execute(call.arguments, { signal, toolCallId: call.id }))
    const data = await gate.race(work)
    return data === STOPPED
      ? failure('the run was stopped while the tool was executed; it may have had its effect')
      : success(data)
  } catch (thrown) {
    return failure(errorData(thrown).message)
  }
}
