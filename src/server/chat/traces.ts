/** Which trace each run is a step of, between the request that asked for it and its beginning. */
export interface Traces {
  note(runId: string, traceparent: string): void
  /** The trace of a run, once. */
  take(runId: string): string | undefined
}

/** Runs that wait and are known of: more are begun as traces of their own. */
const MOST = 10_000

/** In the memory of this process: a run that another instance begins is a trace of its own. */
export function createTraces(): Traces {
  const traces = new Map<string, string>()
  return {
    note(runId, traceparent) {
      if (traces.has(runId)) return
      traces.set(runId, traceparent)
      const [oldest] = traces.keys()
      if (traces.size > MOST && oldest !== undefined) traces.delete(oldest)
    },
    take(runId) {
      const traceparent = traces.get(runId)
      traces.delete(runId)
      return traceparent
    },
  }
}
