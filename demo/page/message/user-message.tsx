import { type ReactNode, useId, useState } from 'react'
import { textOf, type UserMessage as UserMessageRecord } from 'tidemark'
import { useAttempt } from '../attempt.tsx'
import { CopyButton } from '../copy-button.tsx'
import { useFocusOn, useFocusTarget } from '../focus.tsx'
import { Icon } from '../icon.tsx'
import { isEnter } from '../keys.ts'
import { Branches } from './branches.tsx'
import { useConversation } from './conversation.ts'
import { Media } from './media.tsx'

interface Props {
  message: UserMessageRecord
  siblings: readonly string[]
  busy: boolean
  still: boolean
  /** Said below the bubble. */
  children: ReactNode
}

function Editor({ message, close }: { message: UserMessageRecord; close: (saved: boolean) => void }) {
  const [text, setText] = useState(textOf(message))
  const { session } = useConversation()
  const attempt = useAttempt()
  const name = useId()
  const target = useFocusTarget<HTMLTextAreaElement>(`editor:${message.id}`)
  const save = async () => {
    if (!text.trim()) return
    const media = message.content.filter((block) => block.type !== 'text')
    const input = media.length > 0 ? [{ type: 'text' as const, text }, ...media] : text
    if (await attempt(() => session.edit(message.id, input))) close(true)
  }
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <label className="visually-hidden" htmlFor={name}>
        Edit your message
      </label>
      <textarea
        {...target}
        id={name}
        value={text}
        rows={Math.min(12, text.split('\n').length + 1)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation()
            close(false)
          } else if (isEnter(event)) {
            event.preventDefault()
            save()
          }
        }}
      />
      <div className="row">
        <button type="button" className="word" onClick={() => close(false)}>
          Cancel
        </button>
        <button type="submit" className="solid" disabled={!text.trim()}>
          Send as a new version
        </button>
      </div>
    </form>
  )
}

function EditButton({ id, busy, open }: { id: string; busy: boolean; open: () => void }) {
  const target = useFocusTarget<HTMLButtonElement>(`edit:${id}`)
  return (
    <button
      type="button"
      className="quiet"
      aria-label="Edit message"
      title="Edit"
      disabled={busy}
      onClick={open}
      {...target}
    >
      <Icon name="pencil" />
    </button>
  )
}

export function UserMessage({ message, siblings, busy, still, children }: Props) {
  const [editing, setEditing] = useState(false)
  const { session } = useConversation()
  const focusOn = useFocusOn()
  const text = textOf(message)
  if (editing) {
    const close = (saved: boolean) => {
      setEditing(false)
      focusOn(saved ? `composer:${session.id}` : `edit:${message.id}`)
    }
    return <Editor message={message} close={close} />
  }
  const open = () => {
    setEditing(true)
    focusOn(`editor:${message.id}`)
  }
  return (
    <>
      <div className="bubble-row">
        <div className="bubble">
          <p>{text}</p>
          <Media blocks={message.content} />
        </div>
        <div className="tools">
          <Branches id={message.id} siblings={siblings} busy={!still} />
          <CopyButton text={text} label="Copy message" />
          {message.status === 'completed' ? <EditButton id={message.id} busy={busy} open={open} /> : null}
        </div>
      </div>
      {children}
    </>
  )
}
