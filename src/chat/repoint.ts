import { idIn, messageOf, messagesOf, putMessages } from '../protocol/state.ts'
import { type Core, setOutbox, update } from './core.ts'
import { retryLocally } from './local.ts'
import { dueNow } from './outbox.ts'
import type { OutboxRow } from './ports.ts'

/**
 * What was refused since the other side has lost what it follows is said at the end of what is left. Only then: what may have
 * been accepted must not be said otherwise. Returns whether there is such.
 */
export function repoint(core: Core, now: number): boolean {
  // What is not loaded may be there; of what was deleted nothing is left to follow.
  if (core.fields.unread || !core.fields.complete || core.state.deleted) return false
  const parentId = core.state.session?.headId ?? null
  const isLost = (id: string | null) => id !== null && !messageOf(core.state, idIn(core.state, id))
  const rows: OutboxRow[] = []
  const gone: string[] = []
  for (const row of core.outbox.values()) {
    const { request } = row
    if (row.state === 'waiting') continue
    if (request.type === 'send' && isLost(request.body.parentId))
      rows.push({ ...dueNow(row), request: { ...request, body: { ...request.body, parentId } } })
    // Another version of what is not there is said as if it were the first.
    else if (request.type === 'command' && request.body.type === 'edit' && isLost(request.body.messageId)) {
      const { newId: id, runId, content } = request.body
      rows.push({ ...dueNow(row), id, request: { type: 'send', body: { id, runId, parentId, content } } })
      gone.push(row.id)
    }
  }
  update(core, (state, trace) => {
    const moved = messagesOf(state).flatMap((message) =>
      message.seq === undefined && isLost(message.parentId) ? [{ ...message, parentId }] : [],
    )
    return rows.reduce((all, { id }) => retryLocally(all, id, now, trace), putMessages(state, moved, trace))
  })
  setOutbox(core, rows, gone)
  return rows.length > 0
}
