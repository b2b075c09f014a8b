import { type ErrorData, errorData, TidemarkError } from '../lib/errors.ts'
import { createSseParser } from '../lib/sse.ts'
import type { EncodedRequest, ModelEvent, RawResponse } from './contract.ts'
import { createDraft, type Draft, type Ending, endDraft, takeEvents } from './draft.ts'
import { errorIn, failureFrom, failureOf, requestIdOf } from './failure.ts'
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
  { begin, read, end, owns = () => false, rest = () => undefined }: Dialect<State>,
  {
    provider,
    limits: { frame = 16_000_000, answer = 32_000_000 } = {},
  }: { provider: string; limits?: HearLimits | undefined },
): AsyncGenerator<ModelEvent, void, void> {
  const draft = createDraft(provider, answer)
  const state = begin()
  const reader: Reader = {
    read: (value, whole) => read(draft, state, value, whole),
    end: (marked) => end(state, marked),
    owns,
    heard: () => draft.content.length > 0,
  }
  let line = response
  for (;;) {
    const ear = listen(line, frame, reader)
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
      const before = error.code === 'aborted' || error.code === 'protocol' ? undefined : end(state, false)
      ending = before ?? { reason: error.code === 'aborted' ? 'aborted' : 'error', error }
    }
    const more = 'error' in ending && ending.error.code === 'network' ? rest(state) : undefined
    const next = more && (await response.more?.(more))
    if (!next) {
      endDraft(draft, identified(ending, line))
      yield* takeEvents(draft)
      return
    }
    line = next
  }
}

/** An ending with the provider's id of the request, by which a failure can be asked about. */
function identified(ending: Ending, { headers }: RawResponse): Ending {
  const requestId = 'error' in ending ? requestIdOf(headers) : ''
  return 'error' in ending && requestId ? { ...ending, error: { requestId, ...ending.error } } : ending
}

interface Reader {
  read(value: unknown, whole: boolean): Ending | undefined
  end(marked: boolean): Ending | undefined
  owns(value: unknown): boolean
  /** Whether anything was understood so far. */
  heard(): boolean
}

/** Bytes to pieces, and what they say of the end. Throws `protocol` for what no answer may be. */
function listen(response: RawResponse, limit: number, reader: Reader) {
  let [streamed, flushing] = [false, false]
  let ending: Ending | undefined
  const errorOf = (value: unknown, surely?: boolean) =>
    reader.owns(value) ? undefined : errorIn(value, surely)
  const bare = bareJson(limit, response.status < 400, (value) => {
    if (ending) return
    const error = errorOf(value)
    if (error) ending = fail(failureFrom(error, response))
    else if (!streamed) ending = reader.read(value, true)
  })
  const parser = createSseParser({
    maxBuffer: limit,
    onOverflow: () => tooLong(limit),
    onStray: bare.add,
    onFrame({ event, data }) {
      if (ending) return
      const text = data.trim()
      const parsed = parseJson(text)
      const error = errorOf(parsed?.value, event === 'error')
      if (text === '[DONE]') ending = reader.end(true)
      else if (error) ending = fail(failureFrom(error, response))
      else if (event === 'error' && !reader.owns(parsed?.value)) ending = fail(failureOf(text, response))
      else if (parsed) {
        streamed = true
        ending = reader.read(parsed.value, false)
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
      const { rest, last } = bare.left()
      if (response.status >= 400) return ending ?? fail(failureOf(rest, response))
      // What is whole and yet says nothing was never one of ours; anything else was cut off on its way.
      const foreign = !streamed && !reader.heard() && (last !== '' || /^[^[{]/.test(rest))
      const message = `the answer has no end: ${(rest || last).slice(0, 200)}`
      return ending ?? reader.end(false) ?? fail({ code: foreign ? 'protocol' : 'network', message })
    },
  }
}

/** Lines outside the event format: the objects in them, where they are to be `split`, and what is left: a page, half an object. */
function bareJson(limit: number, split: boolean, onObject: (value: unknown) => void) {
  let lines: string[] = []
  let [room, last] = [limit, '']
  const feed = splitJson((text) => {
    const parsed = parseJson(text)
    if (!parsed) return
    lines = []
    room = limit
    last = text
    onObject(parsed.value)
  })
  return {
    add(line: string): void {
      room -= line.length + 1
      if (room < 0) tooLong(limit)
      lines.push(line)
      // A failure's body is read as a whole.
      if (split) feed(`${line}\n`)
    },
    left: () => ({ rest: lines.join('\n').trim(), last }),
  }
}

function tooLong(limit: number): never {
  throw new TidemarkError('protocol', `the answer has a piece of more than ${limit} characters`)
}

const fail = (error: ErrorData): Ending => ({ reason: 'error', error })
