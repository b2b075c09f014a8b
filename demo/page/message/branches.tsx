import { useAttempt } from '../attempt.tsx'
import { isStill, useFocusOn, useFocusTarget } from '../focus.tsx'
import { Icon } from '../icon.tsx'
import { useConversation } from './conversation.ts'

interface ArrowProps {
  id: string
  direction: 'older' | 'newer'
  to: string | undefined
  busy: boolean
}

function Arrow({ id, direction, to, busy }: ArrowProps) {
  const { session } = useConversation()
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  const target = useFocusTarget<HTMLButtonElement>(`${direction}:${id}`)
  const off = busy || to === undefined
  const go = async (pressed: Element) => {
    if (off) return
    const done = await attempt(() => session.selectBranch(to))
    if (done && isStill(pressed)) focusOn(`${direction}:${to}`)
  }
  return (
    // Not `disabled`: at the last version the button would drop the focus of who pressed it.
    <button
      type="button"
      className="quiet"
      aria-label={`Show ${direction} version`}
      aria-disabled={off}
      onClick={(event) => go(event.currentTarget)}
      {...target}
    >
      <Icon name={direction === 'older' ? 'left' : 'right'} />
    </button>
  )
}

/** Versions of one message (edits, regenerated answers), and the way between them. */
export function Branches({ id, siblings, busy }: { id: string; siblings: readonly string[]; busy: boolean }) {
  if (siblings.length < 2) return null
  const place = siblings.indexOf(id)
  return (
    <fieldset className="branches">
      <legend className="visually-hidden">Versions of this message</legend>
      <Arrow id={id} direction="older" to={siblings[place - 1]} busy={busy} />
      <span className="figures" aria-hidden="true">{`${place + 1} / ${siblings.length}`}</span>
      <span className="visually-hidden">{`Version ${place + 1} of ${siblings.length}`}</span>
      <Arrow id={id} direction="newer" to={siblings[place + 1]} busy={busy} />
    </fieldset>
  )
}
