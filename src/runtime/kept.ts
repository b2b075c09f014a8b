import type { EncodedRequest, RawResponse } from '../adapters/contract.ts'
import { type Line, openLine, unlessStopped } from './line.ts'
import type { HttpModelOptions } from './model-options.ts'

/** What can be done about an answer that the provider keeps. */
export interface KeptAnswers {
  /** Asks for the rest of an answer whose line broke. What goes wrong with that is how its bytes end. */
  mend(line: Line, ask: () => Promise<RawResponse>): Promise<RawResponse | undefined>
  /** Tells the provider that nobody waits for an answer any more. Where that fails, it goes on, as if the page were closed. */
  cancel(options: HttpModelOptions, stop: EncodedRequest, send: Send): void
}

type Send = (line: Line, request: EncodedRequest) => Promise<unknown>

/** How often in a row a broken line is mended: after 0.5 s, 1 s, 2 s, 4 s, 8 s. */
const MOST_MENDS = 5

/** For a model whose adapter writes in the background: its option `keeps`. */
export const keptAnswers: KeptAnswers = {
  async mend(line, ask) {
    if (line.mends === MOST_MENDS) return undefined
    try {
      await unlessStopped(line, line.env.sleep(500 * 2 ** line.mends++, line.gate.signal))
      return await ask()
    } catch (thrown) {
      line.came()
      const body = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(thrown) }) }
      return { status: 200, headers: new Headers(), body }
    }
  },
  cancel(options, stop, send) {
    const line = openLine(options, new AbortController().signal)
    send(line, stop).then(
      () => line.reader?.cancel(),
      () => undefined,
    )
  },
}
