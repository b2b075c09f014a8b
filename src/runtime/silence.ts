import type { Env } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'

/** Milliseconds without a byte that count as a lost line, where nobody says otherwise. */
export const SILENCE = 45_000

export interface Watch {
  /** Set when the line was given up. */
  readonly lost: TidemarkError | undefined
  heard(): void
  end(): void
}

/**
 * Gives a line up once nothing was heard on it for so long. One sleep goes over many reads: a timer for each would cost more
 * than all the rest of reading.
 * @param giveUp closes the line, which ends what waits for it
 */
export function watchSilence(giveUp: (lost: TidemarkError) => unknown, silence: number, env: Env): Watch {
  const ended = new AbortController()
  let last = env.now()
  let lost: TidemarkError | undefined
  const wait = async (): Promise<void> => {
    for (let left = silence; left > 0; left = last + silence - env.now()) {
      await env.sleep(left, ended.signal)
      // A clock that was put back says nothing about the line.
      last = Math.min(last, env.now())
    }
    lost = new TidemarkError('timeout', `no sign of life for ${Math.round(silence / 1000)} s`)
    await giveUp(lost)
  }
  // Ended with the line, or a line that had nothing to close any more.
  wait().catch(() => undefined)
  return {
    get lost() {
      return lost
    },
    heard() {
      last = env.now()
    },
    end: () => ended.abort(),
  }
}

/**
 * What is answered, unless the signal is aborted or nothing comes for so long: then it is given up, also where it does not
 * notice. What comes of the answer later is read under the same signal.
 * @param ask makes the request under a signal of its own
 * @param line that signal's: aborted once the answer is read, so that nobody listens on the other any more
 */
export async function answerOf(
  ask: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
  silence: number,
  env: Env,
  line: AbortController,
): Promise<Response> {
  const { signal: own } = line
  const abort = () => line.abort(signal.reason)
  const watch = watchSilence((lost) => line.abort(lost), silence, env)
  try {
    return await new Promise((resolve, reject) => {
      own.addEventListener('abort', () => reject(own.reason))
      signal.addEventListener('abort', abort, { signal: own })
      if (signal.aborted) abort()
      ask(own).then(resolve, reject)
    })
  } catch (cause) {
    // Nobody listens on it any more.
    line.abort()
    throw cause
  } finally {
    watch.end()
  }
}

/** The text of an answer, however slowly its bytes come, as long as they do. Throws `timeout` where they stop. */
export async function textOf(response: Response, silence: number, env: Env): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return response.text()
  const line = watchSilence(() => reader.cancel(), silence, env)
  const decoder = new TextDecoder()
  try {
    for (let text = ''; ; ) {
      const { value } = await reader.read()
      if (line.lost) throw line.lost
      line.heard()
      if (!value) return text + decoder.decode()
      text += decoder.decode(value, { stream: true })
    }
  } finally {
    line.end()
  }
}
