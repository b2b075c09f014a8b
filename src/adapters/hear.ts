import { type ErrorData, errorData, TidemarkError } from '../lib/errors.ts'
import { createSseParser, type SseFrame } from '../lib/sse.ts'
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

interface Hearing<State> {
  readonly dialect: Dialect<State>
  readonly state: State
  readonly draft: Draft
  readonly response: RawResponse
  /** Lines outside the event format: a whole JSON answer, an error page, an error after good frames. */
  readonly stray: string[]
  straySize: number
  readonly maxStray: number
  /** Frames that carried something. */
  frames: number
  /** No more bytes will come, so a piece that does not parse is one that was cut. */
  flushing: boolean
  ending: Ending | undefined
}

/**
 * An answer's bytes as model events: streams, whole JSON answers and error answers alike. Which of them it is, is seen
 * from what comes, since content types lie. Never throws; what goes wrong is the last event.
 */
export async function* hear<State>(
  response: RawResponse,
  dialect: Dialect<State>,
  { provider, limits = {} }: { provider: string; limits?: HearLimits | undefined },
): AsyncGenerator<ModelEvent, void, void> {
  const { frame = 16_000_000, answer = 32_000_000 } = limits
  const draft = createDraft(provider, answer)
  const hearing: Hearing<State> = {
    dialect,
    state: dialect.begin(),
    draft,
    response,
    stray: [],
    straySize: 0,
    maxStray: frame,
    frames: 0,
    flushing: false,
    ending: undefined,
  }
  const parser = createSseParser({
    maxBuffer: frame,
    onFrame: (piece) => hearFrame(hearing, piece),
    onStray: (line) => hearStray(hearing, line),
    onOverflow: () => tooLong(frame),
  })
  try {
    for await (const bytes of response.body) {
      parser.feed(bytes)
      yield* takeEvents(draft)
      if (hearing.ending) break
    }
    hearing.flushing = true
    if (!hearing.ending) parser.end({ flush: true })
    endDraft(draft, hearing.ending ?? atEnd(hearing))
  } catch (thrown) {
    endDraft(draft, afterFailure(hearing, errorData(thrown, 'network')))
  }
  yield* takeEvents(draft)
}

function hearFrame<State>(hearing: Hearing<State>, { event, data }: SseFrame): void {
  if (hearing.ending) return
  const text = data.trim()
  if (text === '[DONE]') {
    hearing.ending = hearing.dialect.end(hearing.state, true)
    return
  }
  const parsed = parseJson(text)
  const error = errorIn(parsed?.value, event === 'error')
  if (error || event === 'error')
    hearing.ending = fail(error ? failureFrom(error, context(hearing)) : failureOf(text, context(hearing)))
  else if (parsed) {
    hearing.frames++
    hearing.ending = hearing.dialect.read(hearing.draft, hearing.state, parsed.value, false)
  } else if (!hearing.flushing && /^[[{]/.test(text))
    throw new TidemarkError('protocol', `a piece of the stream is not valid JSON: ${text.slice(0, 200)}`)
}

function hearStray<State>(hearing: Hearing<State>, line: string): void {
  hearing.straySize += line.length + 1
  if (hearing.straySize > hearing.maxStray) tooLong(hearing.maxStray)
  hearing.stray.push(line)
}

/** All bytes are in, and no piece said how it ended. */
function atEnd<State>(hearing: Hearing<State>): Ending {
  const { response, stray, dialect, state, draft } = hearing
  const text = stray.join('\n').trim()
  if (response.status >= 400) return fail(failureOf(text, context(hearing)))
  const parsed = parseJson(text)
  const candidates = [parsed?.value, ...stray.map((line) => parseJson(line.replace(/^\s*error:/, ''))?.value)]
  for (const candidate of candidates) {
    const error = errorIn(candidate)
    if (error) return fail(failureFrom(error, context(hearing)))
  }
  const ending = hearing.frames === 0 && parsed ? dialect.read(draft, state, parsed.value, true) : undefined
  return ending ?? dialect.end(state, false) ?? fail(cutOff(hearing, text, parsed !== undefined))
}

function cutOff<State>(hearing: Hearing<State>, text: string, whole: boolean): ErrorData {
  if (hearing.frames > 0 || text === '' || (!whole && /^[[{]/.test(text)))
    return { code: 'network', message: 'the answer was cut off: its end never came' }
  const message = whole ? 'the answer does not say how it ended' : 'the answer is neither a stream nor JSON'
  return { code: 'protocol', message: `${message}: ${text.slice(0, 200)}` }
}

/** The line broke or was cut. What had already ended stays ended, except where the reader wanted no more. */
function afterFailure<State>(hearing: Hearing<State>, error: ErrorData): Ending {
  if (error.code === 'aborted') return { reason: 'aborted', error }
  const ending = error.code === 'protocol' ? undefined : hearing.dialect.end(hearing.state, false)
  return ending ?? fail(error)
}

const fail = (error: ErrorData): Ending => ({ reason: 'error', error })

const context = <State>({ response, draft }: Hearing<State>) => ({
  provider: draft.provider,
  status: response.status,
  headers: response.headers,
})

function tooLong(limit: number): never {
  throw new TidemarkError('protocol', `the answer has a piece of more than ${limit} characters`)
}
