/** A value that can be read and watched: the shape `useSyncExternalStore` wants. */
export interface Store<T> {
  get(): T
  /** Calls `listener` after each change; returns the function that ends it. */
  subscribe(listener: () => void): () => void
}

/** A store that can be written. Setting the present value notifies nobody. */
export interface Cell<T> extends Store<T> {
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
      // A copy, so that a listener may end its own or another subscription.
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      // Wrapped, so that the same function may be subscribed twice and ended once.
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
  }
}
