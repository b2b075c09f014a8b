import { TidemarkError } from '../lib/errors.ts'
import type { CallOptions, ModelContext, ToolSpec } from './contract.ts'

/**
 * The tools of a call, their schemas complete: some servers refuse one without type or properties. Throws
 * `invalid-request` for a choice that names no tool.
 */
export function toolsOf({ tools = [] }: ModelContext, choice: CallOptions['toolChoice']): ToolSpec[] {
  if (typeof choice === 'object' && !tools.some(({ name }) => name === choice.name))
    throw new TidemarkError('invalid-request', `toolChoice: there is no tool "${choice.name}"`)
  return tools.map((tool) => ({
    ...tool,
    parameters: { type: 'object', properties: {}, ...tool.parameters },
  }))
}
