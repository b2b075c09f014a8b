import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Pixels from the end within which a reader counts as reading the newest. */
const NEAR = 40

export interface FollowedScroll {
  scroller: RefObject<HTMLDivElement | null>
  content: RefObject<HTMLDivElement | null>
  /** Whether the end is in view, so that what grows there is followed. */
  atEnd: boolean
  toEnd(): void
}

interface ScrollWatch {
  /** The box or what is in it has another height. */
  onResize: () => void
  /** Whether the reader is at the end now; called where that is certain. */
  settle: (atEnd: boolean) => void
}

/** Tells a reader's scrolling from the content's growing. Returns the function that ends it. */
function watchScroll(box: HTMLElement, inner: HTMLElement, { onResize, settle }: ScrollWatch): () => void {
  let top = box.scrollTop
  // What grows below moves the end away without anybody scrolling: only a reader who went up stops the following.
  const onScroll = () => {
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR
    if (near || box.scrollTop < top - 1) settle(near)
    top = box.scrollTop
  }
  const observer = new ResizeObserver(() => {
    onResize()
    onScroll()
  })
  observer.observe(inner)
  observer.observe(box)
  box.addEventListener('scroll', onScroll, { passive: true })
  return () => {
    observer.disconnect()
    box.removeEventListener('scroll', onScroll)
  }
}

/**
 * Keeps the newest in view while it grows, unless the reader has scrolled up: then nothing moves under their eyes.
 * `oldest` names the first thing listed: where older ones are put above it, what was in view stays in view.
 */
export function useFollowedScroll(oldest: string | undefined): FollowedScroll {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const following = useRef(true)
  const height = useRef(0)
  const before = useRef<string>(undefined)
  const [atEnd, setAtEnd] = useState(true)
  const settle = useCallback((end: boolean) => {
    following.current = end
    setAtEnd(end)
  }, [])
  const toEnd = useCallback(() => {
    settle(true)
    const box = scroller.current
    if (box) box.scrollTop = box.scrollHeight
  }, [settle])

  useLayoutEffect(() => {
    const box = scroller.current
    if (!box || oldest === before.current) return
    before.current = oldest
    if (following.current) box.scrollTop = box.scrollHeight
    else box.scrollTop += box.scrollHeight - height.current
    height.current = box.scrollHeight
  }, [oldest])

  useEffect(() => {
    const box = scroller.current
    const inner = content.current
    if (!box || !inner) return
    const onResize = () => {
      height.current = box.scrollHeight
      if (following.current) box.scrollTop = box.scrollHeight
    }
    return watchScroll(box, inner, { onResize, settle })
  }, [settle])
  return { scroller, content, atEnd, toEnd }
}
