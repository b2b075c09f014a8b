import { errorData } from '../lib/errors.ts'
import { type Core, setFields } from './core.ts'
import { failed, fold, isOutstanding, type Line, round, type SyncDeps } from './round.ts'
import type { EventBatch } from './runtime-port.ts'

/** Keeps one session in step with its server, for as long as this tab leads the session. */
export interface Sync {
  /** Looks again now, without waiting for a back-off, on a new connection. */
  wake(): void
  /** The browser says that the line is gone. */
  offline(): void
  /** Asks for everything that changed; resolves when it is there. */
  resync(): Promise<void>
  feedOpen(): boolean
  /** Whether an answer may come back on its request. */
  mayStream(): Promise<boolean>
  /** Whether it has one of the few connections. */
  seated(): boolean
  /** Lets others have it first. */
  yieldSeat(): void
  /** Folds in the events that come back on a request, until they end. */
  consume(events: AsyncIterable<EventBatch>): Promise<void>
  stop(): void
}

/** Reads the events of a request, until they end or something of them is missing. */
async function readStream(core: Core, line: Line, deps: SyncDeps, events: AsyncIterable<EventBatch>) {
  line.streams++
  // A feed would hold a second connection, and tell twice what comes without numbers.
  line.round.abort()
  try {
    for await (const batch of events) {
      if (line.ended) break
      fold(core, batch, deps)
      if (core.state.missing) break
    }
  } catch (thrown) {
    // However a request's events end, what is still open is asked for again.
    const error = errorData(thrown, 'network')
    if (error.code !== 'aborted') deps.onProblem(error)
  }
  line.streams--
}

function yieldSeat({ streams }: Line, { seat }: SyncDeps, wake: () => void): void {
  const had = seat.has()
  // What comes back on a request holds a connection until its end.
  if (streams > 0 || !seat.give()) return
  if (had) wake()
  // One that was free meanwhile nobody tells of.
  else void seat.take().then((has) => has && wake())
}

export function createSync(core: Core, deps: SyncDeps): Sync {
  const line: Line = {
    feed: 'unknown',
    round: new AbortController(),
    attempts: 0,
    gaps: 0,
    mute: false,
    streams: 0,
    ended: false,
    asked: [],
  }
  const wake = () => {
    line.attempts = 0
    line.round.abort()
  }
  void loop(core, line, deps)
  return {
    wake,
    offline() {
      setFields(core, { connection: 'offline' })
      line.round.abort()
    },
    resync() {
      return new Promise((resolve) => {
        line.asked.push(resolve)
        wake()
      })
    },
    feedOpen: () => line.feed === 'open',
    mayStream: async () => line.feed !== 'open' && !line.ended && (await deps.isSeated()),
    seated: deps.seat.has,
    yieldSeat: () => yieldSeat(line, deps, wake),
    async consume(events) {
      await readStream(core, line, deps, events)
      const isFollowed = line.feed === 'open' || (line.feed === 'none' && !isOutstanding(core.state))
      if (!line.ended && (core.state.missing || !isFollowed)) wake()
    },
    stop() {
      line.ended = true
      deps.seat.give()
      line.round.abort()
      for (const resolve of line.asked.splice(0)) resolve()
    },
  }
}

async function loop(core: Core, line: Line, deps: SyncDeps): Promise<void> {
  while (!line.ended) {
    line.round = new AbortController()
    const { signal } = line.round
    const pause = await round(core, line, deps, signal).catch((thrown: unknown) =>
      failed(core, line, deps, thrown, signal),
    )
    if (line.feed === 'open') line.feed = 'closed'
    // Woken early, which is no failure.
    await (signal.aborted ? undefined : wait(deps, pause, signal))
  }
}

const wait = (deps: SyncDeps, pause: number | 'woken', signal: AbortSignal): Promise<void> =>
  pause === 'woken'
    ? new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    : deps.env.sleep(pause, signal).catch(() => undefined)
