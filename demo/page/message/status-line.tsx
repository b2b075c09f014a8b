import { type Connection, type ErrorData, type Message, textOf } from 'tidemark'
import { useAttempt } from '../attempt.tsx'
import { useFocusOn } from '../focus.tsx'
import { useConversation } from './conversation.ts'
import { useRegenerate } from './regenerate.ts'

/** What went wrong, in words for people; the other side's own words follow. */
const REASONS: Readonly<Record<ErrorData['code'], string>> = {
  aborted: 'It was stopped.',
  timeout: 'No word came for too long.',
  network: 'The line broke.',
  'rate-limit': 'Too much was asked in too short a time.',
  auth: 'The key was not accepted.',
  'invalid-request': 'The request was not accepted.',
  'invalid-output': 'The answer does not have the shape that was asked for.',
  'context-overflow': 'The conversation has outgrown the model.',
  refusal: 'The model declined to answer.',
  server: 'The other side failed.',
  protocol: 'The answer could not be read.',
  storage: 'It could not be stored.',
  quota: 'The disk is full.',
  conflict: 'It was changed elsewhere at the same time.',
  'not-found': 'It is no longer there.',
}

function Failure({ error }: { error: ErrorData | undefined }) {
  if (!error) return <>Failed.</>
  return (
    <>
      Failed. {REASONS[error.code]} <span className="said">{error.message}</span>
    </>
  )
}

const isDown = (line: Connection): boolean => line === 'offline' || line === 'reconnecting'

/** What can be done about a message that did not come through. */
function Remedies({ message }: { message: Message }) {
  const { session } = useConversation()
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  const act = (action: () => Promise<unknown>) => async () => {
    if (await attempt(action)) focusOn(`composer:${session.id}`)
  }
  const mine = message.role === 'user'
  return (
    <span className="remedies">
      {!mine && textOf(message) ? (
        <button type="button" className="word" onClick={act(() => session.continue(message.id))}>
          Continue
        </button>
      ) : null}
      {message.status === 'completed' ? null : (
        <button type="button" className="word" onClick={act(() => session.retry(message.id))}>
          {mine ? 'Send again' : 'Ask again'}
        </button>
      )}
      {mine ? (
        <button type="button" className="word" onClick={act(() => session.discard(message.id))}>
          Discard
        </button>
      ) : null}
    </span>
  )
}

/** A run that ended with what its tools gave back: it was stopped there, or had made its last call. */
export function Unanswered({ id }: { id: string }) {
  const again = useRegenerate(id)
  return (
    <p className="status interrupted">
      It ended here, without an answer.
      <button type="button" className="word" onClick={again}>
        Ask again
      </button>
    </p>
  )
}

/** The truth about a message that is not simply complete. */
export function StatusLine({
  message,
  line,
  queued,
}: {
  message: Message
  line: Connection
  queued: boolean
}) {
  const { status, role } = message
  if (status === 'failed')
    return (
      <p className="status failed">
        <Failure error={message.error} />
        <Remedies message={message} />
      </p>
    )
  if (status === 'interrupted')
    return (
      <p className="status interrupted">
        Interrupted here, not finished.
        <Remedies message={message} />
      </p>
    )
  if (role === 'assistant' && status === 'completed' && message.stopReason === 'length')
    return (
      <p className="status interrupted">
        Cut off at its length limit.
        <Remedies message={message} />
      </p>
    )
  if (role === 'user' && status === 'pending') {
    const words = queued ? 'Waits for the answer before it' : 'On its way'
    return <p className="status waiting">{line === 'online' ? words : 'Kept here, waits to be sent'}</p>
  }
  if (role === 'assistant' && status === 'streaming' && isDown(line))
    return (
      <p className="status waiting">The line is down. What is still to come is fetched once it is back.</p>
    )
  if (role === 'assistant' && status === 'pending' && isDown(line))
    return <p className="status waiting">To be answered once the line is back</p>
  if (role === 'assistant' && status === 'pending')
    return (
      <p className="status waiting">
        <span className="swell" aria-hidden="true" /> Waiting for the first word
      </p>
    )
  return null
}
