import {
  createContext,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useLayoutEffect,
  useRef,
} from 'react'

/** Where the focus belongs once it is there (names like `composer:<session id>`), and until when that is still wanted. */
interface Wanted {
  name: string
  until: number
  /** What had the focus when it was asked for: who has gone on from there is left where they are. */
  from: Element | null
}

const PATIENCE_MS = 2000

/** Whether the focus is where it was, or nowhere since that is gone. */
export const isStill = (from: Element | null): boolean =>
  document.activeElement === from || document.activeElement === document.body

const FocusContext = createContext<RefObject<Wanted | null>>({ current: null })

export function FocusArea({ children }: { children: ReactNode }) {
  return <FocusContext value={useRef<Wanted | null>(null)}>{children}</FocusContext>
}

/**
 * Asks for the focus to go to a target, now if it is on the page, else when it appears:
 * a button that replaces a message would otherwise take the focus with it.
 */
export function useFocusOn(): (name: string) => void {
  const wanted = useContext(FocusContext)
  return useCallback(
    (name) => {
      const target = document.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`)
      const from = document.activeElement
      wanted.current = target ? null : { name, until: performance.now() + PATIENCE_MS, from }
      target?.focus()
    },
    [wanted],
  )
}

/** Spread on an element that can be asked for by {@link useFocusOn}. */
export function useFocusTarget<E extends HTMLElement>(
  name: string,
): { ref: RefObject<E | null>; 'data-focus': string } {
  const ref = useRef<E>(null)
  const wanted = useContext(FocusContext)
  // After every render: what is asked for may be on the page only now and then.
  useLayoutEffect(() => {
    if (wanted.current?.name !== name || !ref.current) return
    const { until, from } = wanted.current
    if (performance.now() < until && isStill(from)) ref.current.focus()
    wanted.current = null
  })
  return { ref, 'data-focus': name }
}
