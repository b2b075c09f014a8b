import { STEPS } from '../../src/context/token-code.ts'

/** What a number can be: a step up or down, or none. */
export const VALUES = 2 * STEPS + 1

/** Bits that it is said to cost at most that a number is not there. */
const DEAREST_NONE = 0.5

/** Bits that each value costs in each context, by how often it occurs there; neighbours lend to what has not occurred. */
export function costs(contexts: Int32Array, numbers: Int16Array, count: number): Float64Array<ArrayBuffer> {
  const often = new Float64Array(count * VALUES)
  for (const [at, context] of contexts.entries()) {
    const place = context * VALUES + (numbers[at] ?? 0) + STEPS
    often[place] = (often[place] ?? 0) + 1
  }
  const bits = new Float64Array(count * VALUES)
  for (let context = 0; context < count; context++) {
    let all = 0
    for (let value = 0; value < VALUES; value++) {
      const at = context * VALUES + value
      const size = Math.abs(value - STEPS)
      const seen = often[at] ?? 0
      const near =
        ((value > 0 ? (often[at - 1] ?? 0) : 0) + seen + (value + 1 < VALUES ? (often[at + 1] ?? 0) : 0)) / 3
      bits[at] =
        size === 0 ? seen + 1 : 0.5 * (seen + 0.6 * 0.75 ** size) + 0.5 * (size === 1 ? seen : near) + 0.02
      all += bits[at] ?? 0
    }
    for (let at = context * VALUES; at < (context + 1) * VALUES; at++)
      bits[at] = -Math.log2((bits[at] ?? 0) / all)
    // Where most are something, nothing would be dear, and none of them would ever go.
    const none = context * VALUES + STEPS
    bits[none] = Math.min(bits[none] ?? 0, DEAREST_NONE)
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
