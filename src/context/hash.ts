const PRIME_1 = 2_654_435_761
const PRIME_2 = 1_597_334_677

/** 64 bits of a text, in hexadecimal: to notice a change, not to keep anybody from making one. */
export function hashOf(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, PRIME_1)
    low = Math.imul(low ^ unit, PRIME_2)
  }
  const hex = (half: number) => (half >>> 0).toString(16).padStart(8, '0')
  return hex(high ^ (low >>> 15)) + hex(low ^ (high >>> 13))
}
