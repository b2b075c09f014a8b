import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'

type Announce = (text: string) => void

const AnnounceContext = createContext<Announce>(() => {})

/** Says something to people who listen to the page: politely, once, and gone again after a while. */
export const useAnnounce = (): Announce => useContext(AnnounceContext)

const KEPT_MS = 8000
/** A long answer is announced by its beginning; the rest is read in the conversation itself. */
const LONGEST = 600

export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState<{ text: string; times: number }>({ text: '', times: 0 })
  const announce = useCallback((text: string) => {
    const short = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text
    setSaid((before) => ({ text: short, times: before.times + 1 }))
  }, [])
  useEffect(() => {
    if (!said.text) return
    const timer = setTimeout(() => setSaid((before) => ({ ...before, text: '' })), KEPT_MS)
    return () => clearTimeout(timer)
  }, [said])
  return (
    <AnnounceContext value={announce}>
      {children}
      <div className="visually-hidden" role="status" aria-live="polite" aria-atomic="true">
        {/* A new element each time, so that the same words are announced again. */}
        <p key={said.times}>{said.text}</p>
      </div>
    </AnnounceContext>
  )
}
