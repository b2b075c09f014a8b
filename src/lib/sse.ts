import { createParser } from 'eventsource-parser'

/** One server-sent event, as the bytes said it. */
export interface SseFrame {
  id?: string | undefined
  event?: string | undefined
  data: string
}

export interface SseParserOptions {
  onFrame(frame: SseFrame): void
  /** Comments are signs of life. */
  onComment?(text: string): void
  /** Milliseconds, as the server's `retry:` asks. */
  onRetry?(ms: number): void
  /** A line that is no field of the format, whole. The specification skips it; some servers put their errors there. */
  onStray?(line: string): void
  /** More was buffered than `maxBuffer`: nothing further is parsed. Without it, `feed` throws a `RangeError`. */
  onOverflow?(): void
  /** Characters of one unfinished event. @default 16 million */
  maxBuffer?: number
}

export interface SseParser {
  /** Synchronous: what is complete in these bytes has been handed out when it returns. Cuts may fall anywhere. */
  feed(bytes: Uint8Array | string): void
  /**
   * The end of the bytes. An event that was not ended by an empty line is dropped, as the specification wants;
   * with `flush` it is handed out as if it had been.
   */
  end(options?: { flush?: boolean }): void
}

const STREAM: TextDecodeOptions = { stream: true }
const CR = 13
/** Characters of a begun line that wait for its end outside of the parser, which counts what it keeps. */
const SHORT = 4_096

/**
 * Bytes to frames.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export function createSseParser(options: SseParserOptions): SseParser {
  const { onFrame, onComment, onRetry, onStray, onOverflow, maxBuffer = 16_000_000 } = options
  // One streaming decoder: a character may be cut anywhere; it also removes a leading byte order mark.
  const decoder = new TextDecoder()
  let overflown = false
  const parser = createParser({
    onEvent: onFrame,
    onComment,
    onRetry,
    maxBufferSize: maxBuffer,
    onError(error) {
      if (error.type === 'unknown-field') onStray?.(error.line ?? '')
      if (error.type !== 'max-buffer-size-exceeded') return
      overflown = true
      if (!onOverflow) throw new RangeError(`an event of more than ${maxBuffer} characters`)
      onOverflow()
    },
  })
  // The parser would take "ï»¿" at the start of its first piece for a mark that the decoder has removed already.
  parser.feed('')
  let afterCr = false
  const short = Math.min(SHORT, maxBuffer)
  let begun = ''
  const feed = (text: string) => {
    if (overflown || text === '') return
    const rest = afterCr && text.startsWith('\n') ? text.slice(1) : text
    // A CR at the end of a piece ends its line now; the parser would wait for the LF that may follow.
    afterCr = text.charCodeAt(text.length - 1) === CR
    const piece = afterCr ? `${rest}\n` : rest
    // The short beginning of a line waits here for its end: in the parser, which collects pieces, it costs twice as much.
    const lines = piece.includes('\r') ? piece.length : piece.lastIndexOf('\n') + 1
    const waiting = piece.length - lines + (lines === 0 ? begun.length : 0)
    const cut = waiting > short ? piece.length : lines
    if (cut === 0) begun += piece
    else {
      parser.feed(begun + piece.slice(0, cut))
      begun = piece.slice(cut)
    }
  }
  return {
    feed: (bytes) => feed(typeof bytes === 'string' ? bytes : decoder.decode(bytes, STREAM)),
    end({ flush = false } = {}) {
      feed(decoder.decode())
      if (flush) feed('\n\n')
    },
  }
}

/** A frame as text. Data of several lines becomes several `data:` fields; ids and names must not hold line ends. */
export function formatSse(frame: {
  id?: string
  event?: string
  data?: string
  comment?: string
  retry?: number
}): string {
  let text = ''
  if (frame.comment !== undefined) text += `: ${frame.comment.replace(/\r\n|\r|\n/g, '\n: ')}\n`
  if (frame.retry !== undefined) text += `retry: ${frame.retry}\n`
  if (frame.id !== undefined) text += `id: ${frame.id}\n`
  if (frame.event !== undefined) text += `event: ${frame.event}\n`
  if (frame.data !== undefined) text += `data: ${frame.data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n`
  return `${text}\n`
}
