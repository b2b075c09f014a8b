import { type ChatSession, textOf } from 'tidemark'
import type { Decision, Seen } from './use-inspection.ts'
import { tokens, wordsFor } from './words.ts'

/** The beginning of what a message says; its id where it is not loaded, and what it is where it has no words. */
function excerptOf(session: ChatSession, id: string): string {
  const message = session.message(id).get()
  if (!message) return id
  // Without the marks of Markdown: it is one line.
  const text = textOf(message)
    .replace(/[*_`#>]+/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  if (text !== '') return text.slice(0, 120)
  return message.role === 'assistant' ? 'tool calls' : 'no text'
}

function Row({ session, decision }: { session: ChatSession; decision: Decision }) {
  const { id, sent, reason, tokens: count } = decision
  return (
    <li data-sent={sent}>
      <p className="excerpt">
        <strong>{session.message(id).get()?.role ?? 'message'}</strong> {excerptOf(session, id)}
      </p>
      <p className="why">
        <span>{sent ? 'sent' : 'left out'}</span> {wordsFor(reason, sent)}
        {count === undefined ? null : <span className="count">{tokens(count)}</span>}
      </p>
    </li>
  )
}

/** Every message over which was decided, in the order of the conversation, with why. */
export function Decisions({ session, seen }: { session: ChatSession; seen: Seen }) {
  const place = new Map(session.get().messages.map(({ id }, at) => [id, at]))
  const placeOf = ({ id }: Decision) => place.get(id) ?? -1
  const ordered = seen.decisions.toSorted((a, b) => placeOf(a) - placeOf(b))
  if (ordered.length === 0) return <p className="faint">Nothing: nobody has said anything yet.</p>
  return (
    <>
      {seen.more > 0 ? <p className="faint">And {seen.more} older messages that were left out.</p> : null}
      <ol className="decisions">
        {ordered.map((decision) => (
          <Row key={decision.id} session={session} decision={decision} />
        ))}
      </ol>
    </>
  )
}
