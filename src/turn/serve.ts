import * as z from 'zod/mini'
import type { Env } from '../lib/env.ts'
import { errorData } from '../lib/errors.ts'
import type { ToolCallBlock, ToolMessage } from '../message/schema.ts'
import { CUT_OFF, failure, type ToolResult } from './result.ts'
import { type ExecutionStorage, storedExecutions } from './stored-executions.ts'
import type { Tool } from './tool.ts'

/** A call that a server leaves to a page. */
export interface ServedCall {
  /** Will hold the result. */
  message: ToolMessage
  call: ToolCallBlock
  /** Names the call among all there are. */
  key: string
  /** Aborted when nobody waits for the result any more, here. */
  signal: AbortSignal
  /** Nothing keeps other tabs from executing it as well: what was begun and has no result is left to whoever did so. */
  shared: boolean
}

/** What a page says of such a call: what came of it, or that somebody has to allow it first. */
export type Served =
  | { type: 'toolResult'; data?: unknown; error?: string | undefined }
  | { type: 'askApproval'; timeout?: number | undefined }

/** What a page lends its tools. */
export interface ServingPage {
  storage: ExecutionStorage
  env: Env
}

/** Characters of JSON up to which a result is sent whole; of a longer one, what the model gets to read. */
const MOST_SENT = 200_000

const Read = z.object({ data: z.optional(z.unknown()), error: z.optional(z.string()) })

function said({ text, details }: ToolResult): Served {
  const { data, error } = Read.parse(JSON.parse(text))
  if (error !== undefined) return { type: 'toolResult', error }
  const isWhole = details !== undefined && JSON.stringify(details).length <= MOST_SENT
  return { type: 'toolResult', data: isWhole ? details : data }
}

/**
 * Executes a call once, whatever becomes of the page: what was executed before is said again, and what was cut off is executed
 * again only by an idempotent tool. Resolves with nothing where it was aborted. Never rejects.
 */
export async function serve(
  tool: Tool,
  { message, call, key, signal, shared }: ServedCall,
  { storage, env }: ServingPage,
): Promise<Served | undefined> {
  const given = message.arguments === undefined ? call : { ...call, arguments: message.arguments }
  const checked = await tool.check(given)
  if ('refused' in checked) return said(checked.refused)
  const { args } = checked
  try {
    if (!message.approved && (await tool.needsApproval(args))) {
      const { approvalTimeout: timeout } = tool
      return { type: 'askApproval', ...(Number.isFinite(timeout) && { timeout }) }
    }
  } catch (thrown) {
    return said(failure(`the call could not be judged: ${errorData(thrown).message}`))
  }
  const executions = storedExecutions(storage, message.sessionId)
  if (signal.aborted) return undefined
  const known = await executions.begin(key, tool.idempotent && !shared)
  if (known) return shared && known.text === failure(CUT_OFF).text ? undefined : said(known)
  const { sessionId } = message
  const context = { signal, toolCallId: call.id, key, sessionId, attempt: executions.begun(key) }
  const result = signal.aborted ? undefined : await tool.execute?.(args, context, env)
  // How far it came, nobody knows: whoever goes on with it says so.
  if (!result || signal.aborted) return undefined
  await executions.end(key, result)
  return said(result)
}
