/** What a server knows of one run: frames that are there, and those that are still to come. */
export interface RunLog {
  frames: string[]
  done: boolean
  /** Resolves at the next frame, or the end. */
  changed(): Promise<void>
}

/** How fast a run speaks: it waits before its piece `holdBefore` until it is released. */
export interface Pace {
  holdBefore?: number | undefined
  released: Promise<void>
}

/**
 * Says all frames, whoever listens.
 * @param lead how many frames stand before the first piece
 * @param end what the server does when the run is over
 */
export function startRun(frames: readonly string[], lead: number, pace: Pace, end: () => void): RunLog {
  let wake = () => {}
  let next = new Promise<void>((resolve) => {
    wake = resolve
  })
  const log: RunLog = { frames: [], done: false, changed: () => next }
  const tell = () => {
    const woken = wake
    next = new Promise<void>((resolve) => {
      wake = resolve
    })
    woken()
  }
  const speak = async () => {
    for (const [at, frame] of frames.entries()) {
      if (at - lead === pace.holdBefore) await pace.released
      log.frames.push(frame)
      tell()
      // As a model would: the pieces come one by one.
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    log.done = true
    end()
    tell()
  }
  void speak()
  return log
}

/** The frames from a place on, then those to come, to the end of the run. */
export function follow(log: RunLog, from: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let at = from
  return new ReadableStream(
    {
      async pull(controller) {
        while (at >= log.frames.length && !log.done) await log.changed()
        const frame = log.frames[at]
        at += 1
        if (frame === undefined) controller.close()
        else controller.enqueue(encoder.encode(frame))
      },
    },
    { highWaterMark: 0 },
  )
}
