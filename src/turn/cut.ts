import { roughly } from '../context/rough.ts'
import { endsInHighSurrogate } from '../lib/text.ts'

/** Where a text is best cut, the best first: between lines, sentences, words. */
const BORDERS: readonly RegExp[] = [/\n/g, /[.!?。！？]\s?/g, /[\s,;]/g]

/** The border is looked for in this last part of what fits. */
const SEARCHED = 0.2

/** UTF-16 units. */
const LONGEST_TOKEN = 4

/** Where to cut the text that fits, so that no word is torn where that can be helped, and never a character. */
function borderIn(text: string): number {
  const from = Math.floor(text.length * (1 - SEARCHED))
  for (const border of BORDERS) {
    const last = [...text.slice(from).matchAll(border)].at(-1)
    if (last) return from + last.index + last[0].length
  }
  return endsInHighSurrogate(text) ? text.length - 1 : text.length
}

/** The beginning of a text that is at most so many tokens, as estimated; the very same where that is all of it. */
export function cut(text: string, maxTokens: number): string {
  // So much of it at most: no token is estimated longer.
  let high = Math.min(text.length, Math.ceil(maxTokens * LONGEST_TOKEN))
  if (high === text.length && roughly.text(text) <= maxTokens) return text
  let low = 0
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (roughly.text(text.slice(0, middle)) <= maxTokens) low = middle
    else high = middle - 1
  }
  return text.slice(0, borderIn(text.slice(0, low)))
}
