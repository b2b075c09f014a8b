import { type FormEvent, type RefObject, useLayoutEffect } from 'react'
import { useFocusTarget } from './focus.tsx'
import { Icon } from './icon.tsx'
import { useKept } from './kept.ts'
import { isEnter } from './keys.ts'

interface Props {
  sessionId: string
  running: boolean
  /** False where it was not taken: the text stays. */
  send: (text: string) => Promise<boolean>
  stop: () => void
}

/** After every render: the box is as high as what is written in it, up to what the style sheet allows. */
function useFittingHeight(ref: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const box = ref.current
    if (!box) return
    box.style.height = 'auto'
    box.style.height = `${box.scrollHeight}px`
  })
}

function Tools({ running, stop, empty }: { running: boolean; stop: () => void; empty: boolean }) {
  return (
    <div className="composer-tools">
      <p id="composer-keys" className="keys">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line, <kbd>Esc</kbd> stops the
        answer
      </p>
      {running ? (
        <button type="button" className="stop" onClick={stop}>
          <Icon name="stop" /> Stop
        </button>
      ) : null}
      <button type="submit" className="send" aria-label="Send" title="Send" disabled={empty}>
        <Icon name="send" />
      </button>
    </div>
  )
}

/** Where one writes. What is written and not yet sent outlives a reload. */
export function Composer({ sessionId, running, send, stop }: Props) {
  const [draft, setDraft] = useKept(`draft.${sessionId}`)
  const { ref, ...target } = useFocusTarget<HTMLTextAreaElement>(`composer:${sessionId}`)
  useFittingHeight(ref)
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    const text = draft.trim()
    if (!text) return
    setDraft('')
    if (!(await send(text))) setDraft(draft)
  }
  return (
    <form className="composer" aria-label="Write" onSubmit={submit}>
      <label className="visually-hidden" htmlFor="composer">
        Your message
      </label>
      <div className="box">
        <textarea
          id="composer"
          ref={ref}
          {...target}
          rows={1}
          value={draft}
          placeholder="Write a message"
          enterKeyHint="send"
          aria-describedby="composer-keys"
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={(event) => {
            if (!isEnter(event)) return
            event.preventDefault()
            submit()
          }}
        />
        <Tools running={running} stop={stop} empty={!draft.trim()} />
      </div>
    </form>
  )
}
