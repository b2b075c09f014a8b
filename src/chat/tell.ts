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
