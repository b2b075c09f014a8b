import { type Tool, tool } from '../../src/turn/tool.ts'

const parameters = { type: 'object', properties: { what: { type: 'string' } } }

/**
 * Tools that may not be executed twice. What they do is done in another process, which outlives whoever asks for it.
 * @param world where that is
 */
export function chargingTools(world: string): Tool[] {
  const execute = async (_args: unknown, { key, signal }: { key: string; signal: AbortSignal }) => {
    await fetch(`${world}/effect?key=${key}`, { method: 'POST', signal })
    return 'charged'
  }
  return [
    tool({ name: 'charge', parameters, execute }),
    tool({ name: 'ask', parameters, execute, needsApproval: true }),
  ]
}
