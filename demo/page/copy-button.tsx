import { useEffect, useState } from 'react'
import { useAnnounce } from './announcer.tsx'
import { Icon } from './icon.tsx'

const SHOWN_MS = 2000

/** Puts a text on the clipboard and says whether that worked. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>()
  const announce = useAnnounce()
  useEffect(() => {
    if (!outcome) return
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setOutcome('copied')
      announce('Copied')
    } catch {
      // No clipboard outside https and localhost, or the user said no.
      setOutcome('refused')
      announce('The browser refused to copy')
    }
  }
  return (
    <button
      type="button"
      className="quiet"
      aria-label={label}
      title={outcome === 'refused' ? 'The browser refused' : label}
      onClick={copy}
    >
      <Icon name={outcome === 'copied' ? 'check' : outcome === 'refused' ? 'close' : 'copy'} />
    </button>
  )
}
