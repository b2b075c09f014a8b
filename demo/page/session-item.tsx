import { useState } from 'react'
import type { Session } from 'tidemark'
import { useFocusOn, useFocusTarget } from './focus.tsx'
import { Icon } from './icon.tsx'
import { isEnter } from './keys.ts'
import { titleOf } from './title.ts'

function Rename({
  session,
  save,
  cancel,
}: {
  session: Session
  save: (title: string) => void
  cancel: () => void
}) {
  const target = useFocusTarget<HTMLInputElement>(`name:${session.id}`)
  const [title, setTitle] = useState(titleOf(session))
  const done = () => (title.trim() ? save(title.trim()) : cancel())
  return (
    <input
      {...target}
      className="rename"
      aria-label="Name of the session"
      maxLength={200}
      value={title}
      onChange={(event) => setTitle(event.target.value)}
      onBlur={done}
      onFocus={(event) => event.target.select()}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          event.preventDefault()
          event.stopPropagation()
          cancel()
        } else if (isEnter(event)) {
          event.preventDefault()
          done()
        }
      }}
    />
  )
}

const dayOf = (time: number): string => {
  const date = new Date(time)
  const today = date.toDateString() === new Date().toDateString()
  return today
    ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : date.toLocaleDateString([], { day: 'numeric', month: 'short' })
}

interface ItemProps {
  session: Session
  href: string
  current: boolean
  rename: (title: string) => Promise<boolean>
  remove: () => void
  chosen: () => void
}

interface ToolsProps {
  session: Session
  rename: () => void
  remove: () => void
}

function Tools({ session, rename, remove }: ToolsProps) {
  const target = useFocusTarget<HTMLButtonElement>(`rename:${session.id}`)
  const title = titleOf(session)
  return (
    <span className="session-tools">
      <button
        type="button"
        className="quiet"
        aria-label={`Rename ${title}`}
        title="Rename"
        onClick={rename}
        {...target}
      >
        <Icon name="pencil" />
      </button>
      <button
        type="button"
        className="quiet"
        aria-label={`Delete ${title}`}
        title="Delete"
        onClick={remove}
        data-focus={`delete:${session.id}`}
      >
        <Icon name="trash" />
      </button>
    </span>
  )
}

/** A session in the list: the way to it, its name, and what can be done with it. */
export function SessionItem({ session, href, current, rename, remove, chosen }: ItemProps) {
  const [renaming, setRenaming] = useState(false)
  const focusOn = useFocusOn()
  const title = titleOf(session)
  const end = () => {
    setRenaming(false)
    focusOn(`rename:${session.id}`)
  }
  if (renaming) {
    const save = (next: string) => {
      end()
      if (next !== title) rename(next)
    }
    return (
      <li data-current={current}>
        <Rename session={session} save={save} cancel={end} />
      </li>
    )
  }
  const start = () => {
    setRenaming(true)
    focusOn(`name:${session.id}`)
  }
  return (
    <li data-current={current}>
      <a href={href} aria-current={current ? 'page' : undefined} onClick={chosen}>
        <span className="session-title">{title}</span>
        <time dateTime={new Date(session.updatedAt).toISOString()}>{dayOf(session.updatedAt)}</time>
      </a>
      <Tools session={session} rename={start} remove={remove} />
    </li>
  )
}
