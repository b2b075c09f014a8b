import { useEffect, useId, useRef } from 'react'

interface Props {
  title: string
  confirm: () => void
  cancel: () => void
}

/** Asks before something is gone for good. The browser's own dialog keeps the focus inside and gives Escape its meaning. */
export function ConfirmDelete({ title, confirm, cancel }: Props) {
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
      <p>“{title}” and everything said in it is deleted, here and on the server.</p>
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
