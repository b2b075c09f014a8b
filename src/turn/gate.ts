/** What a race answers that was ended from outside. */
export const STOPPED: unique symbol = Symbol('stopped')

/**
 * Waits for others without being at their mercy: once it is stopped, every wait ends at once, whether or not what it waits
 * for ever reacts to the signal.
 */
export interface Gate {
  /** For those who are waited for. */
  readonly signal: AbortSignal
  /** What `work` resolves or rejects with, or `STOPPED`, whichever is first. What it does after that is ignored. */
  race<T>(work: PromiseLike<T>): Promise<T | typeof STOPPED>
  /** Calls back once it is stopped, and returns what ends that. For many: they need not each listen to the signal. */
  onStop(listener: () => void): () => void
  stop(reason: unknown): void
  /** Lets go of the outer signal. */
  close(): void
}

/** A gate that is stopped with `outer`, or by itself. */
export function openGate(outer: AbortSignal): Gate {
  const controller = new AbortController()
  const { signal } = controller
  // One listener for all waits: a run awaits tens of thousands of deltas.
  const waiting = new Set<() => void>()
  const stop = (reason: unknown) => {
    controller.abort(reason)
    for (const end of waiting) end()
    waiting.clear()
  }
  const onStop = (listener: () => void) => {
    if (signal.aborted) listener()
    else waiting.add(listener)
    return () => void waiting.delete(listener)
  }
  const onAbort = () => stop(outer.reason)
  if (outer.aborted) stop(outer.reason)
  else outer.addEventListener('abort', onAbort, { once: true })
  return {
    signal,
    race: (work) =>
      new Promise((resolve, reject) => {
        const settled = onStop(() => resolve(STOPPED))
        work.then(
          (value) => {
            settled()
            resolve(value)
          },
          (thrown: unknown) => {
            settled()
            reject(thrown)
          },
        )
      }),
    onStop,
    stop,
    close: () => outer.removeEventListener('abort', onAbort),
  }
}
