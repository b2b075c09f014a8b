import type { ErrorData } from '../lib/error-data.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { createSseParser } from '../lib/sse.ts'
import type { Adapter, Dialect } from './adapter.ts'
import type { ModelEvent, RawResponse } from './contract.ts'
import { createDraft, type Draft, type Ending, endDraft, takeEvents } from './draft.ts'
import { errorIn, failureOf, requestIdOf } from './failure.ts'
import { parseJson } from './json.ts'
import { splitJson } from './split-json.ts'

/**
 * An answer's bytes as model events: streams, whole JSON answers and error answers alike. Which of them it is, is seen
 * from what comes, since content types lie. Never throws; what goes wrong is the last event.
 *
 * @example
 * const { content } = await collect(hear(messagesAdapter(), response))
 */
export async function* hear(
  { provider, hears: dialect, limits: { frame = 16_000_000, answer = 32_000_000 } = {} }: Adapter,
  response: RawResponse,
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
      ending = (/aborted|protocol/.test(error.code) ? undefined : dialect.end(state, false, draft)) ?? error
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
interface Answer extends Dialect<unknown> {
  draft: Draft
  state: unknown
  /** Characters of one piece. */
  limit: number
}

/**
 * Bytes to pieces, and what they say of the end. A failure's body is read as a whole. Throws `protocol` for what no answer
 * may be, such as a piece that is broken, unless it is the last and was cut: what it said is lost, however the answer goes on.
 */
function listen({ status }: RawResponse, { draft, state, limit, read, end, owns }: Answer) {
  /** What came outside the event format and was not understood: a page, half an object. And the last object, if only in form. */
  let [rest, last, streamed, flushing] = ['', '', false, false]
  let ending: Ending | undefined
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
    else if (/^\{\s*"/.test(text)) broken(text)
    last = text
  })
  const parser = createSseParser({
    maxBuffer: limit,
    onOverflow: () => tooLong(limit),
    onStray(line) {
      rest += `${line}\n`
      if (rest.length > limit) tooLong(limit)
      if (status >= 400 || ending) return
      if (ERROR_LINE.test(line)) ending = told(line, status)
      else split(`${line}\n`)
    },
    onFrame({ event, data }) {
      const text = data.trim()
      if (ending) return
      if (text === '[DONE]') ending = end(state, true, draft)
      else if (take(text, false, event === 'error')) streamed = true
      else if (!ending && ERROR_LINE.test(text)) ending = told(text, status)
      else if (!ending && !flushing && /^[[{]/.test(text)) broken(text)
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
      ending ??= status < 400 ? end(state, false, draft) : failureOf(rest, status)
      return ending ?? endless(rest.trim(), last, streamed || draft.content.length > 0)
    },
  }
}

/** How some servers say, in the middle of a stream or instead of it, that they failed: a line of words, or of JSON. */
const ERROR_LINE = /^\[?error\]?:\s*(.+)/i

const told = (line: string, status: number): ErrorData => failureOf(line.replace(ERROR_LINE, '$1'), status)

/** An object that begins at the start of a line although one before it did not end. */
const BROKEN_LINE = /^\{.*\n(.*\n)*?\{/m

/** What is whole and yet says nothing was never one of ours; anything else was cut off on its way. */
const endless = (rest: string, last: string, heard: boolean): ErrorData => ({
  code: (!heard && (last !== '' || /^[^[{]/.test(rest))) || BROKEN_LINE.test(rest) ? 'protocol' : 'network',
  message: `the answer has no end: ${(rest || last).slice(0, 200)}`,
})

const tooLong = (limit: number): never => refuse(`the answer has a piece of more than ${limit} characters`)

const broken = (text: string): never =>
  refuse(`a piece of the answer is not valid JSON: ${text.slice(0, 200)}`)

function refuse(words: string): never {
  throw new TidemarkError('protocol', words)
}
