import { HINTS, STEPS } from '../../src/context/token-code.ts'

/** What a number can be: a step up or down, or none. */
export const VALUES = 2 * STEPS + 1

/** Bits that it is said to cost at most that a number is not there. */
const DEAREST_NONE = 0.5

/** Bits that an answer costs, which has been given so often and so often not. A chance never gets nearer to 0 than `walk` lets it. */
const bitsFor = (often: number, not: number): number =>
  -Math.log2(0.01 + (0.98 * (often + 0.5)) / (often + not + 1))

/** How often there was something in each context, and how often it was below 0. */
interface Asked {
  none: number
  above: number
  below: number
}

/** How often a step was said, or a larger one, among numbers of one sort. */
function atLeast(contexts: Int32Array, numbers: Int16Array, sort: number): Float64Array {
  const often = new Float64Array(STEPS + 2)
  for (const [at, context] of contexts.entries())
    if (Math.floor(context / HINTS) === sort)
      for (let step = Math.abs(numbers[at] ?? 0); step > 0; step--) often[step] = (often[step] ?? 0) + 1
  return often
}

/** Bits of each size, said step by step. */
function sizeBits(often: Float64Array): number[] {
  const bits = [0]
  let before = 0
  for (let step = 1; step <= STEPS; step++) {
    const larger = often[step + 1] ?? 0
    const equal = (often[step] ?? 0) - larger
    bits.push(before + bitsFor(equal, larger))
    before += bitsFor(larger, equal)
  }
  return bits
}

/** Bits that each value costs in each context, by how often it occurs there, in the way that `walk` asks for it. */
export function costs(contexts: Int32Array, numbers: Int16Array, count: number): Float64Array<ArrayBuffer> {
  const asked: Asked[] = Array.from({ length: count }, () => ({ none: 0, above: 0, below: 0 }))
  for (const [at, context] of contexts.entries()) {
    const value = numbers[at] ?? 0
    const of = asked[context]
    if (of) of[value > 0 ? 'above' : value < 0 ? 'below' : 'none']++
  }
  const bits = new Float64Array(count * VALUES)
  for (let sort = 0; sort < count / HINTS; sort++) {
    const sizes = sizeBits(atLeast(contexts, numbers, sort))
    for (let context = sort * HINTS; context < (sort + 1) * HINTS; context++) {
      const { none, above, below } = asked[context] ?? { none: 0, above: 0, below: 0 }
      const any = bitsFor(above + below, none)
      const zero = context * VALUES + STEPS
      // Where most are something, nothing would be dear, and none of them would ever go.
      bits[zero] = Math.min(bitsFor(none, above + below), DEAREST_NONE)
      for (let step = 1; step <= STEPS; step++) {
        bits[zero + step] = any + bitsFor(above, below) + (sizes[step] ?? 0)
        bits[zero - step] = any + bitsFor(below, above) + (sizes[step] ?? 0)
      }
    }
  }
  return bits
}

/** Bits that all numbers cost together. */
export function bitsOf(numbers: Int16Array, contexts: Int32Array, bits: Float64Array): number {
  let all = 0
  for (const [at, context] of contexts.entries())
    all += bits[context * VALUES + STEPS + (numbers[at] ?? 0)] ?? 0
  return all
}
