import { createSseParser } from '../../src/lib/sse.ts'
import type { Heard } from './sse-reference.ts'

/** What comes out of these pieces, in order. */
export function hear(
  pieces: readonly (Uint8Array | string)[],
  end: { flush?: boolean } | undefined = undefined,
): Heard {
  const heard: Heard = { frames: [], comments: [], retries: [] }
  const parser = createSseParser({
    onFrame: (frame) => heard.frames.push({ ...frame }),
    onComment: (text) => heard.comments.push(text),
    onRetry: (ms) => heard.retries.push(ms),
  })
  for (const piece of pieces) parser.feed(piece)
  parser.end(end)
  return heard
}
export const framesOf = (...pieces: (Uint8Array | string)[]) => hear(pieces).frames

export const dataOf = (...pieces: (Uint8Array | string)[]) => framesOf(...pieces).map(({ data }) => data)

/** Bytes cut at these places. */
export function cutAt(bytes: Uint8Array, ends: readonly number[]): Uint8Array[] {
  const sorted = [...ends.map((end) => end % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return sorted.map((end, index) => bytes.slice(sorted[index - 1] ?? 0, end))
}
