/** Vectors of one length, one behind the other, each of length 1. */
export interface Vectors {
  readonly dims: number
  readonly values: Float32Array
}

/** A copy of length 1: then a dot product is the cosine. A vector of zeros stays one, and is near to nothing. */
export function normalised(vector: ArrayLike<number>): Float32Array<ArrayBuffer> {
  const copy = Float32Array.from(vector)
  let sum = 0
  for (const value of copy) sum += value * value
  const length = Math.sqrt(sum)
  // What is not a number would be nearer than everything.
  if (!Number.isFinite(length)) return copy.fill(0)
  if (length > 0) for (let at = 0; at < copy.length; at++) copy[at] = (copy[at] ?? 0) / length
  return copy
}

/**
 * The cosine of the vector at `row` and of `query`. Eight sums at a time, since a processor adds at once what does not wait
 * for each other; a query of doubles, since it is made double for each product anyway.
 */
export function cosine({ dims, values }: Vectors, row: number, query: Float64Array): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let e = 0
  let f = 0
  let g = 0
  let h = 0
  let at = row * dims
  const whole = dims & ~7
  let i = 0
  for (; i < whole; i += 8, at += 8) {
    a += (values[at] ?? 0) * (query[i] ?? 0)
    b += (values[at + 1] ?? 0) * (query[i + 1] ?? 0)
    c += (values[at + 2] ?? 0) * (query[i + 2] ?? 0)
    d += (values[at + 3] ?? 0) * (query[i + 3] ?? 0)
    e += (values[at + 4] ?? 0) * (query[i + 4] ?? 0)
    f += (values[at + 5] ?? 0) * (query[i + 5] ?? 0)
    g += (values[at + 6] ?? 0) * (query[i + 6] ?? 0)
    h += (values[at + 7] ?? 0) * (query[i + 7] ?? 0)
  }
  for (; i < dims; i++, at++) a += (values[at] ?? 0) * (query[i] ?? 0)
  return a + b + (c + d) + (e + f + (g + h))
}

/** The best so many of what was offered, the best first. Of two with the same score, the earlier one. */
export interface Best<T> {
  /** A score that is not above this changes nothing. */
  readonly least: number
  offer(score: number, item: T): void
  readonly items: readonly { score: number; item: T }[]
}

export function keepBest<T>(count: number, minScore: number): Best<T> {
  const items: { score: number; item: T }[] = []
  let least = count > 0 ? minScore : Number.POSITIVE_INFINITY
  return {
    get least() {
      return least
    },
    items,
    offer(score, item) {
      if (!(score > least)) return
      let place = items.length
      while (place > 0 && (items[place - 1]?.score ?? 0) < score) place--
      items.splice(place, 0, { score, item })
      if (items.length > count) items.pop()
      if (items.length === count) least = items.at(-1)?.score ?? least
    },
  }
}
