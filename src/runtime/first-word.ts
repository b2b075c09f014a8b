import * as z from 'zod/mini'
import type { RuntimeHost } from '../chat/runtime-port.ts'
import { errorData } from '../lib/errors.ts'
import { ToolMessage } from '../message/schema.ts'

/** Records under the call's message, and what was asked of it: the word that counts. */
const KIND = 'decision'

const Decision = z.object({ rev: z.number(), message: ToolMessage })

/**
 * What counts of what is said of a call: the first word that is stored, from whichever tab; who comes later takes that. Without
 * locks, two tabs may each know of a call that waits. While storage fails, a tab's own word is all that is known.
 * @param asked the call's message as it waits
 * @param word the same as this tab's user wants it
 */
export async function firstWord(
  { storage }: Pick<RuntimeHost, 'storage'>,
  sessionId: string,
  asked: ToolMessage,
  word: ToolMessage,
): Promise<ToolMessage> {
  // A call may be asked about twice: whether it may be executed, and then what came of it.
  const key = `${word.id}_${asked.stage}`
  const value: z.infer<typeof Decision> = { rev: 1, message: word }
  try {
    await storage.commit([{ type: 'record', record: { kind: KIND, key, sessionId, value } }], {
      guards: [{ type: 'record', kind: KIND, key, rev: null }],
      durability: 'strict',
    })
    return word
  } catch (thrown) {
    if (errorData(thrown).code !== 'conflict') return word
    const records = await storage.records(KIND, { sessionId }).catch(() => [])
    const known = Decision.safeParse(records.find((record) => record.key === key)?.value)
    return known.success ? known.data.message : word
  }
}
