import * as z from 'zod/mini'
import { errorData } from '../lib/errors.ts'
import type { Executions } from './executions.ts'
import { CUT_OFF, failure, type ToolResult } from './result.ts'

/** Records under the key of the call: that it was begun, and what came of it. */
const KIND = 'toolRun'

const ToolRun = z.object({
  rev: z.number(),
  result: z.optional(z.object({ text: z.string(), isError: z.boolean(), details: z.optional(z.unknown()) })),
})
type ToolRun = z.infer<typeof ToolRun>

interface StoredRun {
  type: 'record'
  record: { kind: string; key: string; sessionId: string; value: unknown }
}

/** What it takes to remember: the storage of a chat, as far as it keeps records. */
export interface ExecutionStorage {
  records(kind: string, options: { sessionId: string }): Promise<readonly { key: string; value: unknown }[]>
  /** Rejects with `conflict` where what is stored has another `rev`. */
  commit(
    changes: readonly StoredRun[],
    options: {
      guards: readonly { type: 'record'; kind: string; key: string; rev: number | null }[]
      durability: 'strict'
    },
  ): Promise<void>
}

/** A call that ends its page each time it is executed is not executed for ever. */
const MOST_ATTEMPTS = 3

/**
 * What was executed, in the chat's own storage, where the first of several tabs wins. While storage fails, what a tab did
 * itself is all that is known: nothing else of it outlives the tab either.
 */
export function storedExecutions(
  storage: ExecutionStorage,
  sessionId: string,
): Executions & {
  /** How often a call was begun, as far as is known here. */
  begun(key: string): number
} {
  const written = new Map<string, number>()

  /** Writes what is known of a call, over what was known. Throws `conflict` where somebody else has done so. */
  async function put(key: string, over: number | null, result?: ToolResult): Promise<void> {
    const rev = (over ?? 0) + 1
    const value: ToolRun = { rev, ...(result && { result }) }
    await storage.commit([{ type: 'record', record: { kind: KIND, key, sessionId, value } }], {
      guards: [{ type: 'record', kind: KIND, key, rev: over }],
      durability: 'strict',
    })
    written.set(key, rev)
  }

  async function read(key: string): Promise<ToolRun | undefined> {
    const records = await storage.records(KIND, { sessionId })
    const parsed = ToolRun.safeParse(records.find((record) => record.key === key)?.value)
    return parsed.success ? parsed.data : undefined
  }

  async function begin(key: string, again: boolean, over: number | null): Promise<ToolResult | undefined> {
    try {
      await put(key, over)
      return undefined
    } catch (thrown) {
      if (errorData(thrown).code !== 'conflict') return undefined
    }
    const known = await read(key).catch(() => undefined)
    if (known?.result) return known.result
    // One more conflict means that somebody else is at it now.
    if (!known || !again || over !== null || known.rev >= MOST_ATTEMPTS) return failure(CUT_OFF)
    return begin(key, again, known.rev)
  }

  return {
    begun: (key) => written.get(key) ?? 1,
    begin: (key, again) => begin(key, again, null),
    // What cannot be written is in the call's message all the same.
    end: (key, result) => put(key, written.get(key) ?? null, result).catch(() => undefined),
  }
}
