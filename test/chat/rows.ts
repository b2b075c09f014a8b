import type { OutboxRequest, OutboxRow } from '../../src/chat/ports.ts'
import type { Command } from '../../src/protocol/commands.ts'

/** Outbox rows of which a test names only what it is about. */
export const row = (id: string, position: number, fields: Partial<OutboxRow> = {}): OutboxRow => ({
  id,
  sessionId: 's',
  account: 'default',
  position,
  request: send(id),
  state: 'waiting',
  attempts: 0,
  nextAttemptAt: 0,
  claim: null,
  ...fields,
})

export const sendOf = (id: string, runId: string, parentId: string | null = null): OutboxRequest => ({
  type: 'send',
  body: { id, runId, parentId, content: [{ type: 'text', text: id }] },
})

export const send = (id: string, parentId: string | null = null): OutboxRequest =>
  sendOf(id, `run-${id}`, parentId)

export const create: OutboxRequest = { type: 'createSession', body: { id: 's' } }

export const command = (body: Command): OutboxRequest => ({ type: 'command', body })

export const cancel = (runId: string): OutboxRequest => command({ id: 'c', type: 'cancel', runId })
