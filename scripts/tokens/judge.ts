// How far off an estimator is: the mean over families and categories, for long and short texts apart.
import { FAMILIES, type Sample } from './corpus.ts'

export interface Verdict {
  /** Mean of |estimate ÷ count − 1| over families and categories. */
  mean: number
  p95: number
  /** The category and family whose mean of (estimate ÷ count − 1) is farthest from 0. */
  farthest: { category: string; family: number; by: number }
}

const average = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length

export function judge(samples: readonly Sample[], tokens: (text: string, family: number) => number): Verdict {
  const all: number[] = []
  const means: number[] = []
  let farthest = { category: '', family: 0, by: 0 }
  for (const category of new Set(samples.map((sample) => sample.category))) {
    const own = samples.filter((sample) => sample.category === category)
    for (let family = 0; family < FAMILIES; family++) {
      const errors = own.map(({ text, counts }) => tokens(text, family) / (counts[family] ?? 1) - 1)
      all.push(...errors.map(Math.abs))
      means.push(average(errors.map(Math.abs)))
      const by = average(errors)
      if (Math.abs(by) > Math.abs(farthest.by)) farthest = { category, family, by }
    }
  }
  return {
    mean: average(means),
    p95: all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)] ?? 0,
    farthest,
  }
}
