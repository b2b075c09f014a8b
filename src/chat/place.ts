import type { Locks } from './platform.ts'

/** Called when no other tab writes a session any more. The signal ends that: by giving it up, or since another took it over. */
export type OnLead = (lost: AbortSignal) => void

/** A tab's place in the line of those who would write a session. */
export interface Place {
  /** Whether another tab looks on. */
  shared: boolean
  leads(): boolean
  /** Takes the place, whoever has it. */
  steal(): void
  give(): void
}

/** Holds a lock as soon and as long as it can. Where locks are refused (in an opaque origin, say), the tab works as if it were alone. */
export function hold(locks: Locks, name: string, onLead: OnLead, onLost: () => void): Place {
  let given = false
  let leading: AbortController | undefined
  let release = () => {}
  const begin = () => {
    leading = new AbortController()
    onLead(leading.signal)
  }
  const ask = (steal: boolean): void => {
    const waiting = new AbortController()
    const { signal } = waiting
    release = () => waiting.abort()
    const held = () =>
      new Promise<void>((resolve) => {
        if (given || signal.aborted) return resolve()
        release = resolve
        begin()
      })
    const request = async () => locks.request(name, steal ? { steal } : { signal }, held)
    request().catch((thrown: unknown) => {
      // Given up while waiting: there is nothing to release.
      if (given || signal.aborted) return
      waiting.abort()
      const isStolen = thrown instanceof DOMException && thrown.name === 'AbortError'
      if (!isStolen) return begin()
      leading?.abort()
      leading = undefined
      ask(false)
      onLost()
    })
  }
  ask(false)
  return {
    shared: false,
    leads: () => !!leading,
    steal() {
      release()
      ask(true)
    },
    give() {
      given = true
      leading?.abort()
      release()
    },
  }
}
