/** Whether a text ends in the first half of a surrogate pair, which must wait for its second half. */
export function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

const LONE_SURROGATE = /\p{Surrogate}/gu

/** The text with U+FFFD for every half of a surrogate pair that stands alone, as UTF-8 would have it; its length is kept. */
export const wellFormed = (text: string): string => text.replace(LONE_SURROGATE, '\uFFFD')
