import { useEffect, useId, useRef } from 'react'
import type { RuntimeName } from './route.ts'

const PLACES: Readonly<Record<RuntimeName, string>> = {
  remote: 'here and on the server',
  direct: 'from this browser',
}

interface Props {
  title: string
  /** Where it is kept, and thus deleted. */
  runtime: RuntimeName
  confirm: () => void
  cancel: () => void
}

/** Asks before something is gone for good. The browser's own dialog keeps the focus inside and gives Escape its meaning. */
export function ConfirmDelete({ title, runtime, confirm, cancel }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const name = useId()
  useEffect(() => ref.current?.showModal(), [])
  // Shut first: it gives the focus back to where it was, and what is behind it cannot take the focus before.
  const shutThen = (then: () => void) => () => {
    ref.current?.close()
    then()
  }
  return (
    <dialog
      ref={ref}
      aria-labelledby={name}
      onCancel={(event) => {
        event.preventDefault()
        shutThen(cancel)()
      }}
    >
      <h2 id={name}>Delete this session?</h2>
      <p>
        “{title}” and everything said in it is deleted {PLACES[runtime]}.
      </p>
      <div className="row">
        <button type="button" className="word" onClick={shutThen(cancel)}>
          Keep it
        </button>
        <button type="button" className="solid danger" onClick={shutThen(confirm)}>
          Delete
        </button>
      </div>
    </dialog>
  )
}
