import { useEffect, useId } from 'react'
import type { ToolMessage } from 'tidemark'
import { useAnnounce } from '../announcer.tsx'
import { useAttempt } from '../attempt.tsx'
import { useFocusOn } from '../focus.tsx'
import { useConversation } from './conversation.ts'

/** Asks whether a call may be executed. It takes no focus away: who writes goes on writing, and is told. */
export function Approval({ message }: { message: ToolMessage }) {
  const { session } = useConversation()
  const attempt = useAttempt()
  const announce = useAnnounce()
  const focusOn = useFocusOn()
  const name = useId()
  const { id, toolName } = message
  useEffect(() => announce(`The answer waits: may it use ${toolName}?`), [announce, toolName])
  const decide = (work: () => Promise<void>) => async () => {
    // The buttons go with the question.
    if (await attempt(work)) focusOn(`composer:${session.id}`)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: nothing in it is a form field
    <div className="approval" role="group" aria-labelledby={name}>
      <p id={name}>
        The answer wants to use <code>{toolName}</code>. May it?
      </p>
      <div className="row">
        <button type="button" className="word" onClick={decide(() => session.reject(id))}>
          Don’t allow
        </button>
        <button type="button" className="solid" onClick={decide(() => session.approve(id))}>
          Allow
        </button>
      </div>
    </div>
  )
}
