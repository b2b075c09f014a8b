import { estimateTokenCount } from 'tokenx'
import { devSamples, type Sample } from '../scripts/tokens/corpus.ts'
import { judge } from '../scripts/tokens/judge.ts'
import { createEstimator, type Estimator } from '../src/context/estimate.ts'
import { FAMILIES } from '../src/context/families.ts'
import { createLargeEstimator } from '../src/context/large-estimate.ts'
import { table } from './print.ts'

type Count = (text: string, family: number) => number

function byFamily(create: (options: { family: (typeof FAMILIES)[number] }) => Estimator): Count {
  const all = FAMILIES.map((family) => create({ family }))
  return (text, family) => all[family]?.text(text) ?? 0
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`

/** Text to count against the clock: the beginning of each sample. */
export const speedTexts = (samples: readonly Sample[]): string[] =>
  samples.filter(({ long }) => long).map(({ text }) => text.slice(0, 1_000))

/** How far off counts are, over eight tokenizers and 48 kinds of text, none of which the tables were fitted on. */
export function accuracyTable(samples = devSamples()): string {
  const counters: readonly (readonly [string, Count])[] = [
    ['small tables', byFamily(createEstimator)],
    ['large tables', byFamily(createLargeEstimator)],
    ['tokenx', (text) => estimateTokenCount(text)],
    ['length ÷ 4', (text) => text.length / 4],
  ]
  const rows = counters.map(([name, count]) => [
    name,
    ...[true, false].flatMap((long) => {
      const { mean, p95, farthest } = judge(
        samples.filter((sample) => sample.long === long),
        count,
      )
      return [percent(mean), percent(p95), percent(Math.abs(farthest.by))]
    }),
  ])
  return table(['', 'long', 'p95', 'worst kind', 'short', 'p95', 'worst kind'], rows)
}
