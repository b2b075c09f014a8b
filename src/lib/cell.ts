/** A value that can be read and watched: the shape `useSyncExternalStore` wants. */
export interface Store<T> {
  get(): T
  /** Calls `listener` after each change; returns the function that ends it. */
  subscribe(listener: () => void): () => void
}

/** A store that can be written. Setting the present value notifies nobody. */
export interface Cell<T> extends Store<T> {
  /**
   * The value is set and every listener has been called when this returns or throws. What a listener throws is thrown
   * here, after the others were told: one broken watcher must not blind the rest, and its error must not vanish.
   * Several are thrown as one `AggregateError`.
   */
  set(value: T): void
}

export function createCell<T>(initial: T): Cell<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      notifyAll(listeners)
    },
    subscribe(listener) {
      // Wrapped, so that the same function may be subscribed twice and ended once.
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
  }
}

function notifyAll(listeners: ReadonlySet<() => void>): void {
  const errors: unknown[] = []
  // A copy, so that who subscribes now is not called for a change it has seen; who was ended meanwhile is passed over.
  for (const listener of [...listeners]) {
    if (!listeners.has(listener)) continue
    try {
      listener()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} listeners failed`)
}
