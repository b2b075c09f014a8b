import { useEffect, useId, useState } from 'react'
import type { ToolMessage } from 'tidemark'
import { useAnnounce } from '../announcer.tsx'
import { useAttempt } from '../attempt.tsx'
import { useFocusOn, useFocusTarget } from '../focus.tsx'
import { isEnter } from '../keys.ts'
import { useCall, useConversation } from './conversation.ts'

/** The value of a JSON text; undefined where it is none, or nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

interface EditorProps {
  id: string
  draft: string
  change: (draft: string) => void
  cancel: () => void
}

function ArgumentsEditor({ id, draft, change, cancel }: EditorProps) {
  const name = useId()
  const target = useFocusTarget<HTMLTextAreaElement>(`arguments:${id}`)
  const isJson = parsed(draft) !== undefined
  return (
    <div className="arguments">
      <label htmlFor={name}>Arguments, as JSON</label>
      <textarea
        {...target}
        id={name}
        value={draft}
        rows={Math.min(8, draft.split('\n').length + 1)}
        spellCheck={false}
        aria-invalid={!isJson}
        aria-describedby={`${name}-problem`}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          cancel()
        }}
      />
      <p id={`${name}-problem`} className="problem" role="status">
        {isJson ? '' : 'This is not JSON yet.'}
      </p>
    </div>
  )
}

interface ReasonProps {
  reason: string
  change: (reason: string) => void
  /** Enter in it: who says why not has decided. */
  reject: () => void
}

function Reason({ reason, change, reject }: ReasonProps) {
  return (
    <input
      className="reason"
      aria-label="Why not, for the model"
      placeholder="If not, why? The model is told"
      value={reason}
      onChange={(event) => change(event.target.value)}
      onKeyDown={(event) => {
        if (isEnter(event) && reason.trim()) reject()
        if (event.key !== 'Escape' || !reason) return
        event.stopPropagation()
        change('')
      }}
    />
  )
}

interface DecisionProps {
  /** The arguments that the user writes; undefined where they stay the model's. */
  draft: string | undefined
  isChanged: boolean
  reject: () => void
  approve: () => void
}

function Decision({ draft, isChanged, reject, approve }: DecisionProps) {
  return (
    <>
      <button type="button" className="word" onClick={reject}>
        Don’t allow
      </button>
      <button
        type="button"
        className="solid"
        disabled={draft !== undefined && parsed(draft) === undefined}
        onClick={approve}
      >
        {isChanged ? 'Allow this' : 'Allow'}
      </button>
    </>
  )
}

/** Asks whether a call may be executed, and with what. It takes no focus away: who writes goes on writing, and is told. */
export function Approval({ message }: { message: ToolMessage }) {
  const { session, home = session.id } = useConversation()
  const attempt = useAttempt()
  const announce = useAnnounce()
  const focusOn = useFocusOn()
  const name = useId()
  const { id, toolName } = message
  // What the model wants it to be executed with.
  const wanted = JSON.stringify(useCall(message)?.call.arguments ?? {}, null, 2)
  const [draft, setDraft] = useState<string>()
  const [reason, setReason] = useState('')
  const group = useFocusTarget<HTMLDivElement>(`approval:${id}`)
  const changer = useFocusTarget<HTMLButtonElement>(`change:${id}`)
  useEffect(() => announce(`The answer waits: may it use ${toolName}?`), [announce, toolName])
  const decide = (work: () => Promise<void>) => async () => {
    // The buttons go with the question.
    if (await attempt(work)) focusOn(`composer:${home}`)
  }
  const toggle = () => {
    setDraft(draft === undefined ? wanted : undefined)
    focusOn(draft === undefined ? `arguments:${id}` : `change:${id}`)
  }
  const reject = decide(() => session.reject(id, reason.trim() || undefined))
  const isChanged = draft !== undefined && draft !== wanted
  const options = isChanged ? { arguments: parsed(draft) } : {}
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is a question, not part of a form
    <div className="approval" role="group" aria-labelledby={name} tabIndex={-1} {...group}>
      <p id={name}>
        The answer wants to use <code>{toolName}</code>. May it?
      </p>
      {draft !== undefined ? (
        <ArgumentsEditor id={id} draft={draft} change={setDraft} cancel={toggle} />
      ) : wanted === '{}' ? null : (
        <pre>{wanted}</pre>
      )}
      <Reason reason={reason} change={setReason} reject={reject} />
      <div className="row">
        <button type="button" className="word change" onClick={toggle} {...changer}>
          {draft === undefined ? 'Edit arguments' : 'Undo edits'}
        </button>
        <Decision {...{ draft, isChanged, reject }} approve={decide(() => session.approve(id, options))} />
      </div>
    </div>
  )
}
