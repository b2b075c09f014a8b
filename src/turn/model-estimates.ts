import type { Calibration } from '../context/calibration.ts'
import { createEstimator, type Estimator } from '../context/estimate.ts'
import { type KeptCounts, keptCounts } from '../context/kept-estimates.ts'
import { mediaTokens } from '../context/media.ts'
import { overheadsOf } from '../context/overheads.ts'
import type { SessionRecord, SessionRecords } from '../context/session-records.ts'
import { readCalibration, stored } from '../context/stored-calibration.ts'
import type { Usage } from '../message/schema.ts'
import type { ContextInput } from './run-turn.ts'
import type { WatchCalls } from './watch.ts'

/** The kind under which calibrations are kept. */
export const CALIBRATION = 'calibration'

export const modelKey = ({ provider, model }: { provider: string; model: string }): string =>
  `${provider}/${model}`

/** Tokens of a request as it was counted: all of its input, cached or not. */
export const inputTokens = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite

/** The calibration among records; undefined where none is kept, or what is kept cannot be read. */
export const calibrationIn = (records: readonly SessionRecord[], key: string): Calibration | undefined =>
  readCalibration(records.find((record) => record.key === key)?.value)

interface Learning {
  estimator: Estimator
  kept: KeptCounts
}

type Asked = Pick<ContextInput, 'model' | 'thinking' | 'shared'>

/** Estimates for each model by its name, which learn from what the provider counts. */
export interface ModelEstimates {
  of(input: Asked): Promise<KeptCounts>
  readonly watch: WatchCalls
}

export function modelEstimates(): ModelEstimates {
  const known = new Map<string, Promise<Learning>>()
  const homes = new Map<string, SessionRecords>()

  async function open(key: string, { model: { provider, id }, thinking = 'none' }: Asked): Promise<Learning> {
    const records = await homes
      .get(key)
      ?.read(CALIBRATION)
      .catch(() => [])
    const calibration = calibrationIn(records ?? [], key)
    const estimator = createEstimator({
      ...{ model: id, media: mediaTokens, ...overheadsOf(id, provider, thinking !== 'none') },
      ...(calibration && { calibration }),
    })
    return { estimator, kept: keptCounts(estimator) }
  }

  return {
    async of(input) {
      const { model, shared } = input
      const key = modelKey({ provider: model.provider, model: model.id })
      if (shared) homes.set(key, shared)
      // How hard a model is to think is the runtime's option, and the same in all of its calls.
      const learning = known.get(key) ?? open(key, input)
      known.set(key, learning)
      return (await learning).kept
    },
    watch: (start) => ({
      end({ usage }) {
        const { context, sessionId } = start
        const key = modelKey(start)
        const learn = async () => {
          const learning = await known.get(key)
          if (!usage || !context || !learning) return
          const { estimator, kept } = learning
          const counted = { counts: kept.measure(context), actual: inputTokens(usage), session: sessionId }
          const value = stored(estimator.calibrate(counted))
          await homes.get(key)?.write(CALIBRATION, [{ key, value }])
        }
        // What could not be kept can be learnt again.
        learn().catch(() => undefined)
      },
    }),
  }
}
