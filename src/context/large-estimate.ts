import { type Estimator, type EstimatorOptions, estimatorOf } from './estimate.ts'
import { largeSpread, largeTables } from './token-tables-large.ts'

/**
 * `createEstimator` with larger tables, for closer counts: its mean error is under 3 % on long texts and 7.8 % on short ones.
 * Whoever uses this one alone does not pay for the small tables.
 */
export const createLargeEstimator = (options: EstimatorOptions = {}): Estimator =>
  estimatorOf(largeTables, largeSpread, options)
