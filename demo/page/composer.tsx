import { type FormEvent, type RefObject, useLayoutEffect, useState } from 'react'
import type { SendOptions } from 'tidemark'
import { CARD } from '../card.ts'
import { useFocusTarget } from './focus.tsx'
import { Icon } from './icon.tsx'
import { readKept, useKept, writeKept } from './kept.ts'
import { isEnter } from './keys.ts'

interface Props {
  sessionId: string
  running: boolean
  /** False where it was not taken: the text stays. */
  send: (text: string, options?: SendOptions) => Promise<boolean>
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

type WhenBusy = NonNullable<SendOptions['whenBusy']>

/** What a message does to the answer that is being written, in words. */
const WAYS: readonly [WhenBusy, string][] = [
  ['queue', 'Send after this answer'],
  ['steer', 'Let this answer read it'],
  ['interrupt', 'Stop this answer for it'],
]

interface ToolsProps {
  /** The answer is to be a card. */
  card: boolean
  setCard: (card: boolean) => void
  running: boolean
  stop: () => void
  empty: boolean
  way: WhenBusy
  choose: (way: WhenBusy) => void
}

function Tools({ card, setCard, running, stop, empty, way, choose }: ToolsProps) {
  return (
    <div className="composer-tools">
      <p id="composer-keys" className="keys">
        <kbd>Enter</kbd> sends,{' '}
        {running ? null : (
          <>
            <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line,{' '}
          </>
        )}
        <kbd>Esc</kbd> stops the answer
      </p>
      <button
        type="button"
        className="shape"
        aria-pressed={card}
        aria-label="As a card"
        title="Answer in a few points, as a card"
        onClick={() => setCard(!card)}
      >
        <Icon name="card" /> <span>As a card</span>
      </button>
      {running ? (
        <>
          <select
            className="way"
            aria-label="What you send now"
            value={way}
            onChange={(event) => {
              for (const [known] of WAYS) if (known === event.target.value) choose(known)
            }}
          >
            {WAYS.map(([known, words]) => (
              <option key={known} value={known}>
                {words}
              </option>
            ))}
          </select>
          <button type="button" className="stop" onClick={stop}>
            <Icon name="stop" /> Stop
          </button>
        </>
      ) : null}
      <button type="submit" className="send" aria-label="Send" title="Send" disabled={empty}>
        <Icon name="send" />
      </button>
    </div>
  )
}

/** Where one writes. What is written and not yet sent outlives a reload. */
export function Composer({ sessionId, running, send, stop }: Props) {
  const kept = `draft.${sessionId}`
  const [draft, setDraft, showDraft] = useKept(kept)
  const [way, setWay] = useState<WhenBusy>('queue')
  const [card, setCard] = useState(false)
  const { ref, ...target } = useFocusTarget<HTMLTextAreaElement>(`composer:${sessionId}`)
  useFittingHeight(ref)
  const submit = async (event?: FormEvent) => {
    event?.preventDefault()
    const text = draft.trim()
    if (!text) return
    showDraft('')
    const options = { ...(running && { whenBusy: way }), ...(card && { output: CARD }) }
    if (!(await send(text, options))) setDraft(draft)
    // Only now: a page that goes before it is stored takes neither with it.
    else if (readKept(kept) === draft) writeKept(kept, null)
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
        <Tools {...{ card, setCard, running, stop, way }} empty={!draft.trim()} choose={setWay} />
      </div>
    </form>
  )
}
