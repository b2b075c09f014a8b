import { type ErrorData, errorData, TidemarkError } from '../lib/errors.ts'
import { createSseParser } from '../lib/sse.ts'
import type { ModelEvent, RawResponse } from './contract.ts'
import { createDraft, type Draft, type Ending, endDraft, takeEvents } from './draft.ts'
import { errorIn, failureFrom, failureOf } from './failure.ts'
import { parseJson } from './json.ts'

/** Bounds on what an answer may make us keep. */
export interface HearLimits {
  /** Characters of one frame, or of an answer that is no stream. @default 16 million */
  frame?: number
  /** Characters of all blocks together. @default 32 million */
  answer?: number
}

/** One dialect's understanding of an answer that comes as server-sent events, or whole as one JSON value. */
export interface Dialect<State> {
  /** What it remembers from one piece to the next. */
  begin(): State
  /** Takes in one piece of a stream (`whole: false`), or the whole answer. Returns how it ended, if this says so. */
  read(draft: Draft, state: State, value: unknown, whole: boolean): Ending | undefined
  /** The bytes are over, or the marker of their end came (`marked`): how it ended, or undefined where it was cut off. */
  end(state: State, marked: boolean): Ending | undefined
}

/**
 * An answer's bytes as model events: streams, whole JSON answers and error answers alike. Which of them it is, is seen
 * from what comes, since content types lie. Never throws; what goes wrong is the last event.
 */
export async function* hear<State>(
  response: RawResponse,
  { begin, read, end }: Dialect<State>,
  {
    provider,
    limits: { frame = 16_000_000, answer = 32_000_000 } = {},
  }: { provider: string; limits?: HearLimits | undefined },
): AsyncGenerator<ModelEvent, void, void> {
  const draft = createDraft(provider, answer)
  const state = begin()
  const ear = listen(response, frame, {
    read: (value, whole) => read(draft, state, value, whole),
    end: (marked) => end(state, marked),
  })
  try {
    for await (const bytes of response.body) {
      const ending = ear.feed(bytes)
      if (ending) endDraft(draft, ending)
      yield* takeEvents(draft)
      if (ending) return
    }
    endDraft(draft, ear.finish())
  } catch (thrown) {
    const error = errorData(thrown, 'network')
    // What had ended before the line broke stays ended, except where the reader wanted no more.
    const before = error.code === 'aborted' || error.code === 'protocol' ? undefined : end(state, false)
    endDraft(draft, before ?? { reason: error.code === 'aborted' ? 'aborted' : 'error', error })
  }
  yield* takeEvents(draft)
}

interface Reader {
  read(value: unknown, whole: boolean): Ending | undefined
  end(marked: boolean): Ending | undefined
}

/** Bytes to pieces, and what they say of the end. Throws `protocol` for what no answer may be. */
function listen(response: RawResponse, limit: number, { read, end }: Reader) {
  /** Lines outside the event format: a whole JSON answer, an error page, an error after good frames. */
  const stray: string[] = []
  let [room, streamed, flushing] = [limit, false, false]
  let ending: Ending | undefined
  const onOverflow = (): never => {
    throw new TidemarkError('protocol', `the answer has a piece of more than ${limit} characters`)
  }
  const parser = createSseParser({
    maxBuffer: limit,
    onOverflow,
    onStray(line) {
      room -= line.length + 1
      if (room < 0) onOverflow()
      stray.push(line)
    },
    onFrame({ event, data }) {
      if (ending) return
      const text = data.trim()
      const parsed = parseJson(text)
      const error = errorIn(parsed?.value, event === 'error')
      if (text === '[DONE]') ending = end(true)
      else if (error) ending = fail(failureFrom(error, response))
      else if (event === 'error') ending = fail(failureOf(text, response))
      else if (parsed) {
        streamed = true
        ending = read(parsed.value, false)
        // A last piece that does not parse was cut; one before it was never whole.
      } else if (!flushing && /^[[{]/.test(text))
        throw new TidemarkError('protocol', `a piece of the stream is not valid JSON: ${text.slice(0, 200)}`)
    },
  })
  return {
    feed(bytes: Uint8Array): Ending | undefined {
      parser.feed(bytes)
      return ending
    },
    finish(): Ending {
      flushing = true
      parser.end({ flush: true })
      return ending ?? endOf(response, stray, streamed, { read, end })
    },
  }
}

/** All bytes are in, and no piece said how it ended. */
function endOf(
  response: RawResponse,
  stray: readonly string[],
  streamed: boolean,
  { read, end }: Reader,
): Ending {
  const text = stray.join('\n').trim()
  if (response.status >= 400) return fail(failureOf(text, response))
  const whole = parseJson(text)
  // An error may stand alone, after good frames, or in a line of its own: `error: {…}`.
  for (const candidate of [text, ...stray]) {
    const error = errorIn(parseJson(candidate.replace(/^\s*error:/, ''))?.value)
    if (error) return fail(failureFrom(error, response))
  }
  const ending = whole && !streamed ? read(whole.value, true) : undefined
  // What is whole and yet has no end was never one of ours; anything else was cut off on its way.
  const code = !streamed && (whole || /^[^[{]/.test(text)) ? 'protocol' : 'network'
  return ending ?? end(false) ?? fail({ code, message: `the answer has no end: ${text.slice(0, 200)}` })
}

const fail = (error: ErrorData): Ending => ({ reason: 'error', error })
