import { type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type Tool, type ToolOptions, tool } from '../../src/turn/tool.ts'
import { type Client, type ClientSetup, openClient } from '../scenarios/client.ts'
import { type Server, startServer, until } from '../scenarios/server.ts'
import { calling } from './scenes.ts'

const parameters = { type: 'object' }

/** What the server knows of tools that only a page has. */
const declared = [
  tool({ name: 'place', parameters }),
  tool({ name: 'send', parameters, needsApproval: true }),
  tool({ name: 'hurry', parameters, timeout: 5_000 }),
]

export const serverOf = (first: ScriptStep) =>
  startServer({
    tools: declared,
    batch: 0,
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === 'user' ? first : 'Done.')),
  })

/** A page's tool, and how often and with what it was executed. */
export function paged(
  given: Partial<Omit<ToolOptions, 'execute'>> & {
    execute?: (args: unknown, signal: AbortSignal) => unknown
  } = {},
) {
  const { execute = (args) => args, ...options } = given
  const executed: unknown[] = []
  const work: NonNullable<ToolOptions['execute']> = (args, { signal }) => {
    executed.push(args)
    return execute(args, signal)
  }
  return { executed, made: tool({ name: 'place', parameters, ...options, execute: work }) }
}

/** Waits until the turn is over. */
export const ends = (server: Server, { session }: Client) =>
  until(server, () => session.get().status === 'ready' && session.get().messages.length > 2)

/** A page that has these tools, in which somebody has asked something. */
export async function asked(
  tools: Tool[],
  {
    first = calling(['place', { at: 'home' }]),
    ...setup
  }: Partial<ClientSetup> & { first?: ScriptStep } = {},
) {
  const server = serverOf(first)
  const client = openClient(server, { tools, ...setup })
  await client.session.send('Please.')
  return { server, client }
}

/** What a tool does that never answers. */
export const never = () => new Promise(() => {})
/** What the model reads of a call whose page went. */
export const CUT_OFF = { ok: false, error: 'cut off before it answered; it may have been carried out' }
