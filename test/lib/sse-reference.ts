import type { SseFrame } from '../../src/lib/sse.ts'

export interface Heard {
  frames: SseFrame[]
  comments: string[]
  retries: number[]
}

/**
 * The specification's algorithm, word for word and slowly, over a whole stream: what the quick parser is compared to. Two
 * things are as EventSource does not have them, on purpose: an id belongs to its own event alone, and the end of the
 * stream is no line end.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function readSlowly(bytes: Uint8Array): Heard {
  const heard: Heard = { frames: [], comments: [], retries: [] }
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\n|\r/)
  // What follows the last line end is a line that never ended.
  lines.pop()
  let data: string[] = []
  let id: string | undefined
  let event: string | undefined
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) heard.frames.push({ id, event, data: data.join('\n') })
      data = []
      id = undefined
      event = undefined
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (colon === 0) heard.comments.push(value)
    else if (field === 'data') data.push(value)
    else if (field === 'event') event = value === '' ? undefined : value
    else if (field === 'id') id = value.includes('\0') ? undefined : value
    else if (field === 'retry' && /^[0-9]+$/.test(value)) heard.retries.push(Number(value))
  }
  return heard
}
