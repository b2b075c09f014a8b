import { type KeyboardEvent, useState } from 'react'
import type { CallRecord, ChatSession, SessionSnapshot } from 'tidemark'
import { useFocusTarget } from '../focus.tsx'
import { Icon } from '../icon.tsx'
import { actualOf, Curve } from './curve.tsx'
import { Decisions } from './decisions.tsx'
import { type Seen, seenIn, useInspection } from './use-inspection.ts'
import { time, tokens } from './words.ts'

interface FactProps {
  name: string
  value: string
}

function Fact({ name, value }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

const percent = (estimated: number, actual: number): string => {
  const off = Math.round(((estimated - actual) / actual) * 100)
  return `${off > 0 ? '+' : ''}${off} %`
}

function Facts({ seen, call }: { seen: Seen | undefined; call: CallRecord | undefined }) {
  const actual = call && actualOf(call)
  const estimated = seen?.estimated
  return (
    <dl className="facts">
      <Fact name="Estimated" value={tokens(estimated)} />
      {call ? <Fact name="Counted" value={tokens(actual)} /> : null}
      {estimated !== undefined && actual ? <Fact name="Off by" value={percent(estimated, actual)} /> : null}
      {seen?.before !== undefined && seen.before !== seen.estimated ? (
        <Fact name="Before cutting" value={tokens(seen.before)} />
      ) : null}
      {call ? <Fact name="First word" value={time(call.firstByte)} /> : null}
      {call ? <Fact name="All of it" value={time(call.duration)} /> : null}
      {call ? <Fact name="Ended" value={call.error?.code ?? call.stopReason} /> : null}
      {seen?.policies.length ? <Fact name="Policies" value={seen.policies.join(', ')} /> : null}
      {seen?.redacted ? <Fact name="Secrets replaced" value={String(seen.redacted)} /> : null}
    </dl>
  )
}

function Sections({ sections }: Pick<Seen, 'sections'>) {
  if (sections.length === 0) return null
  return (
    <dl className="sections" aria-label="Tokens by part">
      {sections.map(({ name, tokens: count }) => (
        <Fact key={name} name={name} value={tokens(count)} />
      ))}
    </dl>
  )
}

const NOW = 'now'

const nameOf = ({ startedAt, attempt, status }: CallRecord, at: number): string => {
  const clock = new Date(startedAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  const again = attempt > 0 ? `, try ${attempt + 1}` : ''
  return `Call ${at + 1}, ${clock}${again}${status === 'completed' ? '' : `, ${status}`}`
}

interface WhichProps {
  calls: readonly CallRecord[]
  /** Whether is known what would be sent now. */
  now: boolean
  chosen: string | undefined
  choose: (id: string) => void
}

/** Chooses what is shown: a call, or what would be sent now. */
function Which({ calls, now, chosen = NOW, choose }: WhichProps) {
  return (
    <label className="which">
      Show
      <select value={chosen} onChange={(event) => choose(event.target.value)}>
        {now ? <option value={NOW}>What would be sent now</option> : null}
        {!now && calls.length === 0 ? <option value={NOW}>No call yet</option> : null}
        {calls.map((one, at) => (
          <option key={one.id} value={one.id}>
            {nameOf(one, at)}
          </option>
        ))}
      </select>
    </label>
  )
}

interface Props {
  session: ChatSession
  snapshot: SessionSnapshot
  close: () => void
}

/** What the model gets to see of a conversation, and what it got to see: with reasons and numbers. */
export function Inspector({ session, snapshot, close }: Props) {
  const { now, calls, problem } = useInspection(session, snapshot)
  const [chosen, choose] = useState<string>()
  const target = useFocusTarget<HTMLButtonElement>('inspector')
  const call = calls.find(({ id }) => id === chosen) ?? (now ? undefined : calls.at(-1))
  const seen = call ? seenIn(call) : now
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    // Here it shuts the inspector; elsewhere it stops the answer.
    event.nativeEvent.stopImmediatePropagation()
    event.stopPropagation()
    close()
  }
  return (
    <aside className="inspector" aria-label="What the model sees" onKeyDown={onKeyDown}>
      <header>
        <h2>What the model sees</h2>
        <button type="button" className="quiet" aria-label="Close inspector" onClick={close} {...target}>
          <Icon name="close" />
        </button>
      </header>
      {problem ? (
        <p className="problem" role="alert">
          {problem}
        </p>
      ) : null}
      <Curve calls={calls} />
      <Which calls={calls} now={now !== undefined} chosen={call?.id} choose={choose} />
      {now ? null : (
        <p className="faint">The server decides what its model sees. This is what it says it has sent.</p>
      )}
      <Facts seen={seen} call={call} />
      {seen ? (
        <>
          <Sections sections={seen.sections} />
          <h3>Message by message</h3>
          <Decisions session={session} seen={seen} />
        </>
      ) : null}
    </aside>
  )
}
