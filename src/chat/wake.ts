/** What tells a page that its connections are worth another look. */
export interface Wake {
  /** The line is back, or the page is looked at again. */
  onWake(): void
  /** The browser says that there is no network. */
  onOffline(): void
  /** The page may be gone any moment. */
  onHide(): void
}

type Target = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>

/** Listens to the page's life. Outside a page it does nothing. Returns the function that ends it. */
export function watchPage({ onWake, onOffline, onHide }: Wake): () => void {
  const page: Target | undefined = typeof globalThis.addEventListener === 'function' ? globalThis : undefined
  const { document } = globalThis
  const onVisibility = () => (document.visibilityState === 'visible' ? onWake() : onHide())
  const entries: [Target | undefined, string, () => void][] = [
    [page, 'online', onWake],
    [page, 'offline', onOffline],
    [page, 'pageshow', onWake],
    [page, 'pagehide', onHide],
    [document, 'visibilitychange', onVisibility],
    [document, 'freeze', onHide],
    [document, 'resume', onWake],
  ]
  for (const [target, type, listener] of entries) target?.addEventListener(type, listener)
  return () => {
    for (const [target, type, listener] of entries) target?.removeEventListener(type, listener)
  }
}

/** Whether the browser knows that there is no network. `false` means nothing: a line may still be dead. */
export const isOffline = (): boolean => globalThis.navigator?.onLine === false

/** Asks the browser not to evict what is stored; undefined where it cannot be asked. */
export async function askToPersist(): Promise<boolean | undefined> {
  try {
    return await globalThis.navigator?.storage?.persist?.()
  } catch {
    // Some browsers throw in private windows. They have answered.
    return false
  }
}

/** Milliseconds after which a frame is no longer waited for: the page may have been hidden meanwhile. */
const LATE = 200

/** Once per frame while the page is seen; soon where nobody sees frames. */
export function scheduleFrame(flush: () => void): void {
  const seen =
    globalThis.document?.visibilityState === 'visible' &&
    typeof globalThis.requestAnimationFrame === 'function'
  let frame = 0
  const once = () => {
    clearTimeout(timer)
    if (frame) globalThis.cancelAnimationFrame(frame)
    flush()
  }
  const timer = setTimeout(once, seen ? LATE : 16)
  if (seen) frame = globalThis.requestAnimationFrame(once)
}
