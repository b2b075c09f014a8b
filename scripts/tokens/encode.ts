// The other half of src/context/token-code.ts: cells to text, by the same chances.
import { CONTEXTS, chanceAfter, contextOf, MEMORY, sizeOf } from '../../src/context/token-code.ts'
import { CELLS, ONCE, STARTS } from '../../src/context/token-scan.ts'

interface Encoder {
  bit(context: number, bit: number): void
  end(): string
}

const roundUp = (value: bigint, unit: bigint): bigint => ((value + unit - 1n) / unit) * unit

/** A range encoder. Its lower bound is one long whole number, so that nothing has to be carried. */
function createEncoder(): Encoder {
  const chances = new Float64Array(24 * CONTEXTS).fill(0.5)
  const seen = new Uint16Array(24 * CONTEXTS)
  let low = 0n
  let range = 1
  let digits = 0
  return {
    bit(context, bit) {
      while (range < 2 ** 24) {
        range *= 64
        low *= 64n
        digits++
      }
      const chance = chances[context] ?? 0.5
      const split = Math.floor(range * chance)
      if (bit) range = split
      else {
        low += BigInt(split)
        range -= split
      }
      const times = seen[context] ?? 0
      chances[context] = chanceAfter(chance, bit, times)
      if (times < MEMORY) seen[context] = times + 1
    },
    end() {
      // Whatever lies within the range will do: the one that ends in most zeros, which need not be said.
      let unit = 1n
      while (roundUp(low, unit * 64n) < low + BigInt(range)) unit *= 64n
      let rest = roundUp(low, unit)
      const signs: string[] = []
      for (let at = 0; at < digits; at++) {
        const digit = Number(rest % 64n)
        signs.push(String.fromCharCode(digit + (digit < 57 ? 35 : 36)))
        rest /= 64n
      }
      return signs.reverse().join('').replace(/#+$/, '')
    },
  }
}

/** `shared[cell]` for all families, `own[family][cell]` what is added for one. */
export function encode(shared: Int16Array, own: readonly Int16Array[]): string {
  const encoder = createEncoder()
  const number = (context: number, value: number): void => {
    encoder.bit(context, value ? 1 : 0)
    if (!value) return
    encoder.bit(context + 1, value < 0 ? 1 : 0)
    let step = 1
    for (; sizeOf(step) < Math.abs(value); step++) encoder.bit(context + 1 + step, 1)
    encoder.bit(context + 1 + step, 0)
  }
  for (const [pass, values] of [shared, ...own].entries()) {
    let kind = 0
    for (let cell = 0; cell <= ONCE; cell++) {
      while (cell >= (STARTS[kind + 1] ?? CELLS)) kind++
      number(contextOf(kind, pass > 0, shared[cell] ?? 0), values[cell] ?? 0)
    }
  }
  return encoder.end()
}
