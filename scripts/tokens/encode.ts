// The other half of src/context/token-code.ts: cells to text, by the same chances.
import { BASE, LEAST, NARROWEST, sizeOf, WRAP, walk } from '../../src/context/token-code.ts'

const DIGITS = BigInt(BASE)

const roundUp = (value: bigint, unit: bigint): bigint => ((value + unit - 1n) / unit) * unit

/** The sign of a digit: the lowest code of a visible sign that leaves it. */
function signOf(digit: number): string {
  const code = digit + LEAST
  return String.fromCharCode(code < 37 ? code + WRAP : code)
}

/** The bits of one number, as `walk` asks for them. */
function* bitsOf(value: number): Generator<boolean> {
  yield value !== 0
  if (!value) return
  yield value < 0
  for (let step = 1; sizeOf(step) < Math.abs(value); step++) yield true
  yield false
}

function* allBits(shared: Int16Array, own: readonly Int16Array[]): Generator<boolean> {
  for (const value of shared) yield* bitsOf(value)
  for (const added of own) for (const [cell, value] of added.entries()) if (shared[cell]) yield* bitsOf(value)
}

/**
 * `shared[cell]` for all families, `own[family][cell]` what is added for one. A range encoder, whose lower bound is one long whole
 * number, so that nothing has to be carried.
 */
export function encode(shared: Int16Array, own: readonly Int16Array[]): string {
  const bits = allBits(shared, own)
  let low = 0n
  let range = 1
  let digits = 0
  walk((chance) => {
    for (; range < NARROWEST; range *= BASE) {
      low *= DIGITS
      digits++
    }
    const split = (range * chance) | 0
    const bit = bits.next().value === true
    if (bit) range = split
    else {
      low += BigInt(split)
      range -= split
    }
    return bit
  }, own.length - 1)
  // Whatever lies within the range will do: its end is made of as many zeros as can be.
  let unit = 1n
  while (roundUp(low, unit * DIGITS) < low + BigInt(range)) unit *= DIGITS
  let rest = roundUp(low, unit)
  const signs: string[] = []
  for (let at = 0; at < digits; at++) {
    signs.push(signOf(Number(rest % DIGITS)))
    rest /= DIGITS
  }
  return signs.reverse().join('')
}
