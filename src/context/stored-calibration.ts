import * as z from 'zod/mini'
import type { Calibration } from './calibration.ts'

/** What is kept of a calibration: what was learnt of the model, nothing of a session. */
const StoredCalibration = z.object({
  values: z.array(z.number()),
  doubt: z.array(z.array(z.number())),
  reports: z.number(),
})

/** Values that a calibration holds: one for each class of text, and one for what a message costs beside it. */
const VALUES = 5

export const stored = ({ values, doubt, reports }: Calibration): Calibration => ({ values, doubt, reports })

/** A calibration as it was stored; undefined for what is none. */
export function readCalibration(value: unknown): Calibration | undefined {
  const { data } = StoredCalibration.safeParse(value)
  const lists = data && [data.values, data.doubt, ...data.doubt]
  return lists?.every(({ length }) => length === VALUES) ? data : undefined
}
