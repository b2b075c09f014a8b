import { type ToolMessage as ToolRecord, textOf } from 'tidemark'
import { Media } from './media.tsx'

/** What a tool gave back. */
export function ToolMessage({ message }: { message: ToolRecord }) {
  return (
    <details className="aside">
      <summary>
        <code>{message.toolName}</code> {message.isError ? 'failed' : 'answered'}
      </summary>
      <pre>{textOf(message)}</pre>
      <Media blocks={message.content} />
    </details>
  )
}
