import { type ErrorData, errorData, TidemarkError } from '../lib/errors.ts'
import { createSseParser } from '../lib/sse.ts'
import type { EncodedRequest, ModelEvent, RawResponse } from './contract.ts'
import { createDraft, type Draft, type Ending, endDraft, takeEvents } from './draft.ts'
import { errorIn, failureOf, requestIdOf } from './failure.ts'
import { parseJson } from './json.ts'
import { splitJson } from './split-json.ts'

/** Bounds on what an answer may make us keep. */
export interface HearLimits {
  /** Characters of one frame, or of an answer that is no stream. @default 16 million */
  frame?: number
  /** Characters of all blocks together. @default 32 million */
  answer?: number
}

/** One dialect's understanding of an answer that comes as server-sent events, or as bare JSON: whole, in lines, as a list. */
export interface Dialect<State> {
  /** What it remembers from one piece to the next. */
  begin(): State
  /** Takes in an event's data, or a bare object, which may be all there is (`whole`). Returns how it ended, if this says so. */
  read(draft: Draft, state: State, value: unknown, whole: boolean): Ending | undefined
  /** The bytes are over, or the marker of their end came (`marked`): how it ended, or undefined where it was cut off. */
  end(state: State, marked: boolean): Ending | undefined
  /** Pieces that `read` wants to see even where they tell of an error; any other error ends the answer by itself. */
  owns?(value: unknown): boolean
  /** How to ask for what is still missing of an answer that the provider keeps; undefined where it keeps none. */
  rest?(state: State): EncodedRequest | undefined
}

/**
 * An answer's bytes as model events: streams, whole JSON answers and error answers alike. Which of them it is, is seen
 * from what comes, since content types lie. Never throws; what goes wrong is the last event.
 */
export async function* hear<State>(
  response: RawResponse,
  dialect: Dialect<State>,
  {
    provider,
    limits: { frame = 16_000_000, answer = 32_000_000 } = {},
  }: { provider: string; limits?: HearLimits | undefined },
): AsyncGenerator<ModelEvent, void, void> {
  const draft = createDraft(provider, answer)
  const state = dialect.begin()
  for (let line = response; ; ) {
    const ear = listen(line, { ...dialect, draft, state, limit: frame })
    let ending: Ending | undefined
    try {
      for await (const bytes of line.body) {
        ending = ear.feed(bytes)
        if (ending) break
        yield* takeEvents(draft)
      }
      ending ??= ear.finish()
    } catch (thrown) {
      const error = errorData(thrown, 'network')
      // What had ended before the line broke stays ended, except where the reader wanted no more.
      ending = (/aborted|protocol/.test(error.code) ? undefined : dialect.end(state, false)) ?? error
    }
    if (typeof ending === 'object') {
      const rest = ending.code === 'network' && dialect.rest?.(state)
      const next = rest && (await response.more?.(rest))
      if (next) {
        line = next
        continue
      }
      // By which a failure can be asked about.
      const requestId = requestIdOf(line.headers)
      if (requestId) ending = { requestId, ...ending }
    }
    endDraft(draft, ending)
    yield* takeEvents(draft)
    return
  }
}

/** An answer that is being heard. */
interface Answer<State> extends Dialect<State> {
  draft: Draft
  state: State
  /** Characters of one piece. */
  limit: number
}

/** Bytes to pieces, and what they say of the end. Throws `protocol` for what no answer may be. */
function listen<State>({ status }: RawResponse, { draft, state, limit, read, end, owns }: Answer<State>) {
  /** What came outside the event format and was not understood: a page, half an object. And the last object, if only in form. */
  let [rest, last, streamed, flushing] = ['', '', false, false]
  let ending: Ending | undefined
  const tooLong = () => refuse(`the answer has a piece of more than ${limit} characters`)
  /** Takes in a piece, if it is JSON, or known to be an error. */
  const take = (text: string, whole: boolean, failed?: boolean): boolean => {
    const parsed = parseJson(text)
    const own = parsed && owns?.(parsed.value)
    if (!own && (failed || errorIn(parsed?.value))) ending = failureOf(text, status)
    else if (parsed && !(whole && streamed)) ending = read(draft, state, parsed.value, whole)
    return !!parsed
  }
  const split = splitJson((text) => {
    if (ending) return
    if (take(text, true)) rest = ''
    last = text
  })
  const parser = createSseParser({
    maxBuffer: limit,
    onOverflow: tooLong,
    onStray(line) {
      rest += `${line}\n`
      if (rest.length > limit) tooLong()
      // A failure's body is read as a whole.
      if (status < 400) split(`${line}\n`)
    },
    onFrame({ event, data }) {
      const text = data.trim()
      if (ending) return
      if (text === '[DONE]') ending = end(state, true)
      else if (take(text, false, event === 'error')) streamed = true
      // A last piece that does not parse was cut; one before it was never whole.
      else if (!ending && !flushing && /^[[{]/.test(text))
        refuse(`a piece of the stream is not valid JSON: ${text.slice(0, 200)}`)
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
      const found = ending ?? (status < 400 ? end(state, false) : failureOf(rest, status))
      return found ?? endless(rest.trim(), last, streamed || draft.content.length > 0)
    },
  }
}

/** What is whole and yet says nothing was never one of ours; anything else was cut off on its way. */
const endless = (rest: string, last: string, heard: boolean): ErrorData => ({
  code: !heard && (last !== '' || /^[^[{]/.test(rest)) ? 'protocol' : 'network',
  message: `the answer has no end: ${(rest || last).slice(0, 200)}`,
})

function refuse(words: string): never {
  throw new TidemarkError('protocol', words)
}
