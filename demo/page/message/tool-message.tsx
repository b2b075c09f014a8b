import { type ToolMessage as ToolRecord, textOf } from 'tidemark'
import { Approval } from './approval.tsx'
import { Media } from './media.tsx'
import { SubRun } from './sub-run.tsx'

/** How a call ended, in words. */
function endOf(message: ToolRecord): string {
  if (!message.isError) return 'answered'
  return textOf(message).includes('the user did not allow this call') ? 'was not allowed' : 'failed'
}

/** What a tool gave back, or what it waits for. */
export function ToolMessage({ message }: { message: ToolRecord }) {
  const { status, stage, toolName } = message
  if (stage === 'approval') return <Approval message={message} />
  return (
    <SubRun message={message}>
      {status === 'pending' ? (
        <p className="aside">
          <code>{toolName}</code> is at work
        </p>
      ) : (
        <details className="aside">
          <summary>
            <code>{toolName}</code> {endOf(message)}
          </summary>
          <pre>{textOf(message)}</pre>
          <Media blocks={message.content} />
        </details>
      )}
    </SubRun>
  )
}
