import type { ChatStorage } from '../chat/ports.ts'
import type { Calibration } from '../context/calibration.ts'
import type { Estimator } from '../context/estimate.ts'
import { stored } from '../context/stored-calibration.ts'
import { CALIBRATION, calibrationIn, inputTokens, modelKey } from '../turn/model-estimates.ts'
import type { WatchCalls } from '../turn/watch.ts'

export interface TeachOptions {
  /** Where what was learnt is kept, by model. That of the chat will do. @default nowhere */
  storage?: Pick<ChatStorage, 'commit'>
}

/**
 * Teaches an estimator by what the provider counts, call by call. Calls that were not counted teach nothing. The estimator of
 * `defaultContext` learns by itself.
 */
export const teach =
  (estimator: Pick<Estimator, 'calibrate'>, { storage }: TeachOptions = {}): WatchCalls =>
  ({ context, provider, model }) => ({
    end({ usage }) {
      if (!usage || !context) return
      const value = stored(estimator.calibrate({ ...context, actual: inputTokens(usage) }))
      const record = { kind: CALIBRATION, key: modelKey({ provider, model }), sessionId: null, value }
      // It can be learnt again.
      storage?.commit([{ type: 'record', record }]).catch(() => undefined)
    },
  })

/**
 * What is kept of a model, for the option `calibration` of an estimator; undefined where nothing is kept that can be read.
 *
 * @example
 * const calibration = await taught(storage, { provider: 'openai', model: 'gpt-4o' })
 * const estimator = createEstimator({ model: 'gpt-4o', ...(calibration && { calibration }) })
 */
export async function taught(
  storage: Pick<ChatStorage, 'records'>,
  model: { provider: string; model: string },
): Promise<Calibration | undefined> {
  return calibrationIn(await storage.records(CALIBRATION), modelKey(model))
}
