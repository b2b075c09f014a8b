/**
 * Calls somebody who watches. What they throw is thrown again outside, as an event target does it: there it stops nothing
 * of ours, and is not overlooked either.
 */
export function tell(listener: () => void): void {
  try {
    listener()
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown
    })
  }
}

/** Tells those who watched before: whoever comes now has seen it, whoever left meanwhile is passed over. */
export function tellAll(listeners: ReadonlySet<() => void>): void {
  for (const listener of [...listeners]) if (listeners.has(listener)) tell(listener)
}
