/** One of those who do the same work in one run. */
export interface Contestant {
  name: string
  /** Does the work once, checks its outcome, and says how many milliseconds it took. Throws where the outcome is wrong. */
  run(): number | Promise<number>
  /** Pieces of work in one run: deltas, events. */
  units: number
  /** Takes part only in every nth round, where it is so slow that the others would wait for it. @default 1 */
  every?: number
}

/** A claim about two contestants: how many times as long as `to` does `of` take? */
export interface Claim {
  of: string
  to: string
  /** Held where the ratio is at most this. */
  most?: number
  /** Held where the ratio is at least this. */
  least?: number
}

/** What is measured side by side. */
export interface Case {
  name: string
  /** What one piece of work is called: 'delta', 'event'. */
  unit: string
  contestants: readonly Contestant[]
  claims: readonly Claim[]
}

/** The middle of some figures, and the quartiles around it. */
export interface Spread {
  median: number
  low: number
  high: number
}

export interface Result {
  name: string
  unit: string
  /** Nanoseconds per piece of work, by contestant. */
  times: readonly ({ name: string; rounds: number } & Spread)[]
  /** Of the medians; the spread is of the ratios round by round. */
  ratios: readonly (Claim & Spread)[]
}

export interface MeasureOptions {
  /** Rounds that count. @default 15 */
  rounds?: number
  /** Rounds before them, for the compiler. @default 3 */
  warmUp?: number
  /** A number in [0, 1), for the order within a round. @default Math.random */
  random?: () => number
  /** Called between two runs, outside of what is timed: collects garbage, lets the page breathe. */
  rest?: () => void | Promise<void>
}

/** The value below which a part of the figures lies, between two of them where it falls there. */
export function quantile(figures: readonly number[], part: number): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * part
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

export const spreadOf = (figures: readonly number[]): Spread => ({
  median: quantile(figures, 0.5),
  low: quantile(figures, 0.25),
  high: quantile(figures, 0.75),
})

/** A copy in an order that chance gives: whoever always came second would always find the caches warm. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const rest = [...items]
  const order: T[] = []
  while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1))
  return order
}

/** Nanoseconds per piece of work, by contestant and round; a round that one sat out is left empty. */
type Samples = ReadonlyMap<string, readonly (number | undefined)[]>

function ratioOf(claim: Claim, samples: Samples): Claim & Spread {
  const of = samples.get(claim.of)
  const to = samples.get(claim.to)
  if (!of || !to) throw new Error(`a claim about ${claim.of} and ${claim.to}, one of whom does not take part`)
  const paired = of.flatMap((time, round) => {
    const other = to[round]
    return time === undefined || other === undefined ? [] : [time / other]
  })
  const median = spreadOf(present(of)).median / spreadOf(present(to)).median
  const { low, high } = spreadOf(paired)
  return { ...claim, median, low: Math.min(low, median), high: Math.max(high, median) }
}

const present = (samples: readonly (number | undefined)[]): number[] =>
  samples.filter((sample) => sample !== undefined)

/** Lets the contestants of a case work in turns, in another order each round, and compares the medians. */
export async function measure(given: Case, options: MeasureOptions = {}): Promise<Result> {
  const { rounds = 15, warmUp = 3, random = Math.random, rest } = options
  const samples = new Map(given.contestants.map(({ name }) => [name, new Array<number | undefined>(rounds)]))
  for (let round = -warmUp; round < rounds; round++) {
    for (const { name, run, units, every = 1 } of shuffled(given.contestants, random)) {
      if (round % every !== 0) continue
      await rest?.()
      const milliseconds = await run()
      const own = samples.get(name)
      if (own && round >= 0) own[round] = (milliseconds * 1e6) / units
    }
  }
  return {
    name: given.name,
    unit: given.unit,
    times: given.contestants.map(({ name }) => {
      const own = present(samples.get(name) ?? [])
      return { name, rounds: own.length, ...spreadOf(own) }
    }),
    ratios: given.claims.map((claim) => ratioOf(claim, samples)),
  }
}

/** Whether what was claimed is so; undefined where nothing was. */
export function isHeld({ most, least, median }: Pick<Claim, 'most' | 'least'> & Spread): boolean | undefined {
  if (most === undefined && least === undefined) return undefined
  return median <= (most ?? Number.POSITIVE_INFINITY) && median >= (least ?? 0)
}
