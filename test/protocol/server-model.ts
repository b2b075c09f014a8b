import type { AssistantBlock, AssistantMessage, Message, Session } from '../../src/message/schema.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'

/** A server as plain as can be: what it knows, and what it says. It shares no code with the reducer it is compared to. */
export interface Server {
  rows: Map<string, Message>
  graves: Map<string, number>
  /** Of the deleted ones, too. */
  parents: Map<string, string | null>
  runs: Set<string>
  session: Session
  rev: number
  seq: number
  ids: number
  events: ChatEvent[]
}

/** What can happen, and how often. */
export const KINDS = {
  send: 3,
  answer: 5,
  start: 2,
  delta: 16,
  complete: 3,
  fail: 1,
  interrupt: 2,
  resume: 2,
  tool: 2,
  settleTool: 2,
  update: 2,
  remove: 1,
  title: 1,
  select: 1,
  regenerate: 2,
  edit: 1,
  endRun: 2,
}
export type Kind = keyof typeof KINDS

/** One thing that happens on the server; `pick` chooses among what it can happen to. */
export interface Step {
  kind: Kind
  pick: number
  text: string
  flag: boolean
  block: AssistantBlock['type']
}

export const SESSION = 's'
export const T = 1_700_000_000_000

function setHead(server: Server, headId: string | null): void {
  server.session = { ...server.session, headId, rev: ++server.rev }
  server.events.push({ type: 'session.updated', session: server.session })
}

function create(server: Server, fields: Partial<Message>): Message {
  const common = { id: `m${++server.ids}`, sessionId: SESSION, createdAt: T, updatedAt: T, v: 1 }
  const message = { ...common, seq: ++server.seq, rev: ++server.rev, ...fields } as Message
  server.rows.set(message.id, message)
  server.parents.set(message.id, message.parentId)
  server.events.push({ type: 'message.created', message })
  if (message.parentId === server.session.headId) setHead(server, message.id)
  return message
}

/** Changes a row; the caller says so by an event. */
function change<M extends Message>(server: Server, row: M, fields: Partial<M>): M & { rev: number } {
  const changed = { ...row, ...fields, rev: ++server.rev }
  server.rows.set(row.id, changed)
  return changed
}

function begin(server: Server, row: AssistantMessage): void {
  const runId = row.runId ?? `r${row.id}`
  const { rev } = change(server, row, { status: 'streaming', runId, provider: 'p', model: 'm' })
  server.events.push({ type: 'message.started', id: row.id, runId, rev, provider: 'p', model: 'm' })
}

function answer(server: Server, parentId: string | null, starts: boolean): AssistantMessage {
  const runId = `r${server.ids}`
  server.runs.add(runId)
  server.events.push({ type: 'run.started', runId })
  const fields = { role: 'assistant', parentId, status: 'pending', content: [], runId } as const
  const row = create(server, { ...fields, content: [] }) as AssistantMessage
  if (starts) begin(server, row)
  return row
}

const BLOCKS: { readonly [T in AssistantBlock['type']]: (n: number) => AssistantBlock } = {
  text: () => ({ type: 'text', text: '' }),
  thinking: () => ({ type: 'thinking', text: '', signature: 'sig' }),
  toolCall: (n) => ({ type: 'toolCall', id: `call${n}`, name: 'look', rawArguments: '' }),
  image: () => ({ type: 'image', mimeType: 'image/png', data: 'AAAA' }),
  source: (n) => ({ type: 'source', url: `https://example.org/${n}` }),
  other: (n) => ({ type: 'other', provider: 'p', raw: { n } }),
}

export function grown(block: AssistantBlock): string | undefined {
  if (block.type === 'toolCall') return block.rawArguments ?? ''
  return block.type === 'text' || block.type === 'thinking' ? block.text : undefined
}

function withMore(block: AssistantBlock, more: string): AssistantBlock {
  if (block.type === 'toolCall') return { ...block, rawArguments: (block.rawArguments ?? '') + more }
  return block.type === 'text' || block.type === 'thinking' ? { ...block, text: block.text + more } : block
}

function stream(server: Server, row: AssistantMessage, { text, flag, block: type }: Step): void {
  const last = row.content.at(-1)
  const present = last && grown(last)
  const opens = last === undefined || present === undefined || flag
  const block = opens ? BLOCKS[type](row.content.length) : last
  const index = opens ? row.content.length : row.content.length - 1
  const delta = grown(block) === undefined ? '' : text
  const content = [...row.content.slice(0, index), withMore(block, delta)]
  server.rows.set(row.id, { ...row, content })
  // A text block need not be described.
  const described = opens && !(type === 'text' && text.length % 2 === 0) && { block }
  const offset = opens ? 0 : (present ?? '').length
  server.events.push({ type: 'message.delta', id: row.id, index, delta, offset, ...described })
}

const finished = (block: AssistantBlock): AssistantBlock =>
  block.type === 'toolCall' ? { ...block, arguments: { raw: block.rawArguments } } : block

const error = { code: 'server', message: 'it broke' } as const

/** The nearest message before this one that still lives, else the newest one. */
function livingBefore({ rows, parents }: Server, row: Message): string | null {
  for (let id = row.parentId; id !== null; id = parents.get(id) ?? null) if (rows.has(id)) return id
  return [...rows.keys()].at(-1) ?? null
}

type Act = (server: Server, step: Step, pick: <M extends Message>(rows: M[]) => M | undefined) => void

const isAnswer = (row: Message): row is AssistantMessage => row.role === 'assistant'
const answers = (server: Server, ...statuses: Message['status'][]): AssistantMessage[] =>
  [...server.rows.values()].filter(isAnswer).filter(({ status }) => statuses.includes(status))

export const ACTS: { readonly [K in Kind]: Act } = {
  send(server, { text }) {
    const content = [{ type: 'text' as const, text }]
    create(server, { role: 'user', status: 'completed', parentId: server.session.headId, content })
  },
  answer: (server, { flag }) => void answer(server, server.session.headId, flag),
  start(server, _, pick) {
    const row = pick(answers(server, 'pending'))
    if (row) begin(server, row)
  },
  delta(server, step, pick) {
    if (answers(server, 'streaming').length === 0) answer(server, server.session.headId, true)
    const row = pick(answers(server, 'streaming'))
    if (row) stream(server, row, step)
  },
  complete(server, _, pick) {
    const row = pick(answers(server, 'streaming'))
    if (!row) return
    const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 }
    const content = row.content.map(finished)
    const message = change(server, row, { status: 'completed', stopReason: 'stop', usage, content })
    server.events.push({ type: 'message.completed', message })
  },
  fail(server, { flag }, pick) {
    const row = pick(answers(server, 'pending', 'streaming'))
    if (!row) return
    const message = change(server, row, { status: 'failed', error })
    const { id, rev } = message
    server.events.push({ type: 'message.failed', id, rev, error, ...(flag && { message }) })
  },
  interrupt(server, { flag }, pick) {
    const row = pick(answers(server, 'pending', 'streaming'))
    if (!row) return
    const message = change(server, row, { status: 'interrupted' })
    const { id, rev } = message
    server.events.push({ type: 'message.interrupted', id, rev, ...(flag && { message }) })
  },
  resume(server, _, pick) {
    const row = pick(answers(server, 'interrupted'))
    if (row) begin(server, row)
  },
  tool(server, _, pick) {
    const asking = pick(answers(server, 'completed'))
    if (!asking) return
    const call = { toolCallId: 'call0', toolName: 'look', isError: false, content: [] }
    create(server, { role: 'tool', status: 'pending', parentId: asking.id, ...call })
  },
  settleTool(server, { text, flag }, pick) {
    const row = pick(
      [...server.rows.values()].filter((row) => row.role === 'tool' && row.status === 'pending'),
    )
    if (!row) return
    const content = [{ type: 'text' as const, text }]
    if (flag)
      server.events.push({
        type: 'message.completed',
        message: change(server, row, { status: 'completed', content }),
      })
    else {
      const message = change(server, row, { status: 'failed', error, content })
      server.events.push({ type: 'message.failed', id: row.id, rev: message.rev, error, message })
    }
  },
  update(server, { flag, pick: n }, pick) {
    const row = pick([...server.rows.values()])
    if (!row) return
    // The owner's later word, also about what had ended.
    const status = flag && row.status === 'failed' ? 'completed' : row.status
    const message = change(server, row, { status, metadata: { n } })
    server.events.push({ type: 'message.updated', message })
  },
  remove(server, _, pick) {
    const row = pick([...server.rows.values()])
    // A session that has begun always has a head to show.
    if (!row || server.rows.size === 1) return
    const rev = ++server.rev
    server.rows.delete(row.id)
    server.graves.set(row.id, rev)
    server.events.push({ type: 'message.deleted', id: row.id, rev })
    if (server.session.headId === row.id) setHead(server, livingBefore(server, row))
  },
  title(server, { text }) {
    server.session = { ...server.session, title: text, rev: ++server.rev }
    server.events.push({ type: 'session.updated', session: server.session })
  },
  select(server, _, pick) {
    const row = pick([...server.rows.values()])
    if (row) setHead(server, row.id)
  },
  regenerate(server, { flag }, pick) {
    const row = pick(answers(server, 'completed', 'failed', 'interrupted'))
    if (!row) return
    const sibling = answer(server, row.parentId, flag)
    if (server.session.headId !== sibling.id) setHead(server, sibling.id)
  },
  edit(server, { text }, pick) {
    const row = pick([...server.rows.values()].filter(({ role }) => role === 'user'))
    if (!row) return
    const content = [{ type: 'text' as const, text }]
    const sibling = create(server, { role: 'user', status: 'completed', parentId: row.parentId, content })
    if (server.session.headId !== sibling.id) setHead(server, sibling.id)
  },
  endRun(server) {
    const [runId] = server.runs
    if (!runId) return
    server.runs.delete(runId)
    server.events.push({ type: 'run.finished', runId, outcome: 'completed' })
  },
}
