import * as z from 'zod/mini'
import { formatSse } from '../src/lib/sse.ts'
import { type AssistantMessage, Id, type Message, type Session, UserBlock } from '../src/message/schema.ts'
import { frameOf } from '../src/protocol/codec.ts'
import type { ChatEvent } from '../src/protocol/events.ts'
import { type Answer, type Chunking, chunksOf } from './answer.ts'
import { type Chunks, eventStreamResponse, jsonResponse, type Timed, timed, turn } from './stream.ts'

/** Dates are for display; any will do. */
const DATED = { createdAt: 1_753_700_000_000, updatedAt: 1_753_700_000_000, v: 1 } as const
export const SESSION_ID = 'bench'
export const ANSWER_ID = 'answer'

/** A session's earlier messages, acknowledged and settled: questions and answers in turn. */
function historyOf(count: number): Message[] {
  const messages: Message[] = []
  for (let at = 0; at < count; at++) {
    const base = {
      id: `m${at}`,
      sessionId: SESSION_ID,
      parentId: at === 0 ? null : `m${at - 1}`,
      seq: at + 1,
      rev: at + 1,
      status: 'completed' as const,
      content: [{ type: 'text' as const, text: `Message ${at} of a long conversation.` }],
      ...DATED,
    }
    messages.push(at % 2 === 0 ? { ...base, role: 'user' } : { ...base, role: 'assistant' })
  }
  return messages
}

/** What is read of the question that is sent. */
const Sent = z.object({ id: Id, runId: Id, parentId: z.nullable(Id), content: z.array(UserBlock) })
type Sent = z.infer<typeof Sent>

const accepted = ({ id, parentId, content }: Sent, history: number): Message => ({
  role: 'user',
  id,
  sessionId: SESSION_ID,
  parentId,
  seq: history + 1,
  rev: history + 1,
  status: 'completed',
  content,
  ...DATED,
})

/** What a server says of the answer to a question, as numbered frames. */
export function answerEvents(answer: Answer, sent: Sent, history: number): string[] {
  let n = 0
  let rev = history + 1
  const frame = (event: ChatEvent) => formatSse(frameOf({ id: { n: ++n, tag: 'bench' }, event }))
  const { runId } = sent
  const message: AssistantMessage = {
    role: 'assistant',
    id: ANSWER_ID,
    sessionId: SESSION_ID,
    parentId: sent.id,
    seq: history + 2,
    runId,
    status: 'pending',
    content: [],
    ...DATED,
  }
  const { id } = message
  const events = [
    frame({ type: 'message.created', message: accepted(sent, history) }),
    frame({ type: 'run.started', runId }),
    frame({ type: 'message.created', message: { ...message, rev: ++rev } }),
    frame({ type: 'message.started', id, runId, rev: ++rev }),
  ]
  let offset = 0
  for (const delta of answer.deltas) {
    const block = offset === 0 ? { block: { type: 'text' as const, text: '' } } : {}
    events.push(frame({ type: 'message.delta', id, index: 0, ...block, delta, offset }))
    offset += delta.length
  }
  const content = [{ type: 'text' as const, text: answer.text }]
  const whole = { ...message, status: 'completed' as const, content, stopReason: 'stop' as const, rev: ++rev }
  events.push(
    frame({ type: 'message.completed', message: whole }),
    frame({ type: 'run.finished', runId, outcome: 'completed' }),
  )
  return events
}

function pageOf(messages: readonly Message[], query: URLSearchParams) {
  const since = Number(query.get('changedSince') ?? 0)
  const until = since + Number(query.get('limit'))
  const session: Session = { id: SESSION_ID, metadata: {}, headId: messages.at(-1)?.id ?? null, ...DATED }
  return {
    messages: messages.slice(since, until),
    hasMore: until < messages.length,
    eventId: null,
    rev: messages.length,
    session,
  }
}

export interface ServerOptions {
  answer: Answer
  chunking: Chunking
  /** Messages that the session has already. @default 0 */
  history?: number
}

/** A client's line to the server, and its clock. */
export interface Line {
  fetch: typeof fetch
  /** Milliseconds since the first piece of the answer was asked for. */
  elapsed(): number
}

/**
 * A server that lives in this page, with one session: what it says is there before it is asked. One question is asked over
 * and over, each time by a client that comes anew; the answer comes on the feed that the client has open.
 */
export function memoryServer({ answer, chunking, history = 0 }: ServerOptions): { open(): Line } {
  const messages = historyOf(history)
  const known = new Map<string, Chunks>()
  const chunksFor = (sent: Sent): Chunks => {
    const key = JSON.stringify(sent)
    const chunks = known.get(key) ?? chunksOf(answerEvents(answer, sent, history), chunking)
    known.set(key, chunks)
    return chunks
  }
  return {
    open() {
      let clock: Timed | undefined
      let ask = (_: Timed) => {}
      const asked = new Promise<Timed>((resolve) => {
        ask = resolve
      })
      return {
        elapsed: () => clock?.elapsed() ?? Number.NaN,
        async fetch(input, init) {
          const { pathname, searchParams } = new URL(String(input))
          const path = pathname.replace(/^\/sessions(\/[^/]+)?\/?/, '')
          const route = `${init?.method ?? 'GET'} ${path}`
          if (route === 'GET events') return eventStreamResponse(async () => (await asked).source())
          if (route === 'GET messages') return jsonResponse(pageOf(messages, searchParams))
          if (route === 'GET ') return jsonResponse({ sessions: [], hasMore: false })
          if (route !== 'POST messages') return jsonResponse({}, 404)
          const sent = Sent.parse(JSON.parse(String(init?.body)))
          clock = timed(chunksFor(sent))
          // The answer begins when the client has learnt that the question arrived.
          void turn().then(() => clock && ask(clock))
          return jsonResponse(
            { message: accepted(sent, history), runId: sent.runId, eventId: '1.bench' },
            202,
          )
        },
      }
    },
  }
}
