import type { AssistantMessage, Session, UserMessage } from '../../src/message/schema.ts'
import type { ChatEvent, Envelope } from '../../src/protocol/events.ts'
import { SESSION } from './server-model.ts'

const common = { sessionId: SESSION, parentId: null, createdAt: 1, updatedAt: 1, v: 1 }

export const user = (id: string, fields: Partial<UserMessage> = {}): UserMessage => ({
  ...common,
  id,
  role: 'user',
  status: 'completed',
  content: [{ type: 'text', text: `says ${id}` }],
  ...fields,
})

export const assistant = (id: string, fields: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...common,
  id,
  role: 'assistant',
  status: 'pending',
  content: [],
  ...fields,
})

export const session = (fields: Partial<Session> = {}): Session => ({
  id: SESSION,
  createdAt: 1,
  updatedAt: 1,
  metadata: {},
  headId: null,
  v: 1,
  ...fields,
})

export const text = (value: string): AssistantMessage['content'] => [{ type: 'text', text: value }]

export const created = (message: UserMessage | AssistantMessage, clientId?: string): ChatEvent => ({
  type: 'message.created',
  message,
  ...(clientId !== undefined && { clientId }),
})

export const started = (id: string, rev?: number): ChatEvent => ({
  type: 'message.started',
  id,
  ...(rev !== undefined && { rev }),
})

export const delta = (id: string, more: string, offset?: number, index = 0): ChatEvent => ({
  type: 'message.delta',
  id,
  index,
  delta: more,
  ...(offset !== undefined && { offset }),
})

/** Events with the numbers after `from`. */
export const numberedFrom = (from: number, ...events: ChatEvent[]): Envelope[] =>
  events.map((event, index) => ({ id: { n: from + index + 1, tag: `t${from + index + 1}` }, event }))

export const plain = (...events: ChatEvent[]): Envelope[] => events.map((event) => ({ event }))
