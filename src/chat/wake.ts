import type { Platform } from './platform.ts'

/** What tells a page that its connections are worth another look. */
export interface Wake {
  /** The line is back, or the page is looked at again. */
  onWake(): void
  /** The browser says that there is no network. */
  onOffline(): void
  /** The page may be gone any moment. */
  onHide(): void
  /**
   * It is gone, frozen, or kept aside for somebody who comes back: what it holds, others cannot have. A frozen page may still
   * hear and answer other tabs while nothing else of it goes on.
   */
  onLeave(): void
  /** It is shown, thawed, or shown again after it was kept aside. */
  onReturn(): void
}

/** Listens to the page's life. Outside a page it does nothing. Returns the function that ends it. */
export function watchPage(page: Platform, wake: Wake): () => void {
  const { onWake, onOffline, onHide, onLeave, onReturn } = wake
  const { document } = page
  const onVisibility = () => (document?.visibilityState === 'visible' ? onWake() : onHide())
  const entries: [Platform | Platform['document'], string, () => void][] = [
    [page, 'online', onWake],
    [page, 'offline', onOffline],
    [page, 'pageshow', onReturn],
    [page, 'pagehide', onLeave],
    [document, 'visibilitychange', onVisibility],
    [document, 'freeze', onLeave],
    [document, 'resume', onReturn],
  ]
  for (const [target, type, listener] of entries) target?.addEventListener?.(type, listener)
  return () => {
    for (const [target, type, listener] of entries) target?.removeEventListener?.(type, listener)
  }
}

/** Whether the browser knows that there is no network. `false` means nothing: a line may still be dead. */
export const isOffline = ({ navigator }: Platform): boolean => navigator?.onLine === false

/** Asks the browser not to evict what is stored; undefined where it cannot be asked. */
export async function askToPersist({ navigator }: Platform): Promise<boolean | undefined> {
  try {
    return await navigator?.storage?.persist?.()
  } catch {
    // Some browsers throw in private windows. They have answered.
    return false
  }
}

/** Milliseconds after which a frame is no longer waited for: the page may have been hidden meanwhile. */
const LATE = 200

/** Once per frame while the page is seen; soon where nobody sees frames. */
export function scheduleFrame(page: Platform, flush: () => void): void {
  const seen = page.document?.visibilityState === 'visible'
  let frame: number | undefined
  let over = false
  const once = () => {
    if (over) return
    over = true
    if (frame) page.cancelAnimationFrame?.(frame)
    flush()
  }
  page.setTimeout(once, seen ? LATE : 16)
  if (seen) frame = page.requestAnimationFrame?.(once)
}
