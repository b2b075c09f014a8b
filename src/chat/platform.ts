type Target = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>

/** What a channel between tabs can do, as `BroadcastChannel` does it. */
export interface Channel {
  onmessage: ((event: MessageEvent) => void) | null
  postMessage(message: unknown): void
  close(): void
}

/** Web Locks as far as tabs use them. */
export interface Locks {
  request(
    name: string,
    options: { signal: AbortSignal } | { steal: true } | { ifAvailable: true },
    /** `lock` is null where it was to be had at once, and was not. */
    held: (lock?: unknown) => Promise<unknown>,
  ): Promise<unknown>
}

/**
 * The page around a chat: of its globals those that a chat uses, under their own names. What is absent is done without: in a
 * page without locks a tab works alone, outside a page nothing wakes a chat.
 */
export interface Platform extends Partial<Target> {
  /** Its `visibilityState` says whether anybody looks. */
  readonly document?: Target & Pick<Document, 'visibilityState'>
  readonly navigator?: {
    readonly onLine?: boolean
    readonly locks?: Locks
    readonly storage?: { persist?(): Promise<boolean> }
  }
  readonly BroadcastChannel?: new (name: string) => Channel
  requestAnimationFrame?(callback: () => void): number
  cancelAnimationFrame?(frame: number): void
  /** For frames where the page paints none; no data waits for it. */
  setTimeout(callback: () => void, ms: number): unknown
}
