import type { ModelContext } from '../adapters/contract.ts'
import type { ChatStorage } from '../chat/ports.ts'
import type { WatchCalls } from '../turn/watch.ts'

/** What learns from a provider's count, such as an estimator of tokens. */
export interface Learner {
  /**
   * Learns from a request and the tokens that it turned out to have, all of its input, cached or not. Gives what it knows
   * then, as plain data.
   */
  calibrate(report: ModelContext & { actual: number }): unknown
}

export interface TeachOptions {
  /** Where what was learnt is kept, by model. That of the chat will do. @default nowhere */
  storage?: Pick<ChatStorage, 'commit'>
}

const KIND = 'calibration'

const keyOf = ({ provider, model }: { provider: string; model: string }): string => `${provider}/${model}`

/** Teaches an estimator by what the provider counts, call by call. Calls that were not counted teach nothing. */
export const teach =
  (learner: Learner, { storage }: TeachOptions = {}): WatchCalls =>
  ({ context, provider, model }) => ({
    end({ usage }) {
      if (!usage || !context) return
      const actual = usage.input + usage.cacheRead + usage.cacheWrite
      const value = learner.calibrate({ ...context, actual })
      const record = { kind: KIND, key: keyOf({ provider, model }), sessionId: null, value }
      // It can be learnt again.
      storage?.commit([{ type: 'record', record }]).catch(() => undefined)
    },
  })

/** What an estimator had learnt of a model, as it gave it; undefined where nothing is kept. */
export async function taught(
  storage: Pick<ChatStorage, 'records'>,
  model: { provider: string; model: string },
): Promise<unknown> {
  const records = await storage.records(KIND)
  return records.find(({ key }) => key === keyOf(model))?.value
}
