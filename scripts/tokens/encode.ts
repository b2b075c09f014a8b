// The other half of src/context/token-code.ts: cells to text, by the same chances.
import {
  BASE,
  BELOW,
  FIRST_SIGN,
  LARGER,
  LEFT_OUT,
  NARROWEST,
  sizeOf,
  splitOf,
  unseen,
  walk,
} from '../../src/context/token-code.ts'

interface Encoder {
  bit(context: number, bit: boolean): void
  end(): string
}

const DIGITS = BigInt(BASE)

const roundUp = (value: bigint, unit: bigint): bigint => ((value + unit - 1n) / unit) * unit

/** A range encoder. Its lower bound is one long whole number, so that nothing has to be carried. */
function createEncoder(): Encoder {
  const seen = unseen()
  let low = 0n
  let range = 1
  let digits = 0
  return {
    bit(context, bit) {
      while (range < NARROWEST) {
        range *= BASE
        low *= DIGITS
        digits++
      }
      const split = splitOf(range, seen, context)
      if (bit) range = split
      else {
        low += BigInt(split)
        range -= split
      }
      const place = 2 * context + (bit ? 1 : 0)
      seen[place] = (seen[place] ?? 0) + 1
    },
    end() {
      // Whatever lies within the range will do: the one that ends in most zeros, which need not be said.
      let unit = 1n
      while (roundUp(low, unit * DIGITS) < low + BigInt(range)) unit *= DIGITS
      let rest = roundUp(low, unit)
      const signs: string[] = []
      for (let at = 0; at < digits; at++) {
        const sign = FIRST_SIGN + Number(rest % DIGITS)
        signs.push(String.fromCharCode(sign < LEFT_OUT ? sign : sign + 1))
        rest /= DIGITS
      }
      return signs.reverse().join('').replace(/%+$/, '')
    },
  }
}

/** `shared[cell]` for all families, `own[family][cell]` what is added for one. */
export function encode(shared: Int16Array, own: readonly Int16Array[]): string {
  const encoder = createEncoder()
  walk((context, hint, cell, pass) => {
    const value = (pass < 0 ? shared : own[pass])?.[cell] ?? 0
    encoder.bit(context + hint, value !== 0)
    if (!value) return 0
    encoder.bit(context + hint + BELOW, value < 0)
    let step = 1
    for (; sizeOf(step) < Math.abs(value); step++) encoder.bit(context + LARGER + step, true)
    encoder.bit(context + LARGER + step, false)
    return value
  }, own.length - 1)
  return encoder.end()
}
