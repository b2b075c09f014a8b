import { formatSse } from '../../src/lib/sse.ts'
import type { Message, Session } from '../../src/message/schema.ts'
import { frameOf } from '../../src/protocol/codec.ts'
import { type ChatEvent, parseEventId } from '../../src/protocol/events.ts'
import { jsonResponse } from '../stream.ts'

/** Dates are for display; any will do. */
const DATED = { createdAt: 1_753_700_000_000, updatedAt: 1_753_700_000_000, v: 1 } as const
export const SESSION_ID = 'live'

const SESSION: Session = { id: SESSION_ID, metadata: {}, headId: null, ...DATED }

/** Bytes that a socket hands over at once. */
const BURST = 16_384

/** A server that lives in the page, with one session and a feed: it says what it is told to, when it is told. */
export interface Wire {
  fetch: typeof fetch
  /** The events happen, whoever hears of them. Each is a chunk of its own on the feeds that are open. */
  say(events: readonly ChatEvent[]): void
  /** Breaks every feed and refuses every request, until it is up again. */
  down(): void
  up(): void
}

type Feed = ReadableStreamDefaultController<Uint8Array>

const encoder = new TextEncoder()

/** Frames as chunks of the size that a socket gives. */
function burstsOf(frames: readonly Uint8Array[]): Uint8Array[] {
  const bursts: Uint8Array[] = []
  const bytes = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const frame of frames) {
    bytes.set(frame, end)
    end += frame.length
  }
  for (let at = 0; at < end; at += BURST) bursts.push(bytes.slice(at, at + BURST))
  return bursts
}

/** A feed that begins after what was heard before, and goes on for as long as somebody reads it. */
function follow(headers: Headers, frames: readonly Uint8Array[], feeds: Set<Feed>): Response {
  const from = parseEventId(headers.get('last-event-id') ?? '')?.n ?? 0
  let own: Feed | undefined
  const body = new ReadableStream<Uint8Array>({
    start(feed) {
      own = feed
      feed.enqueue(encoder.encode(': here\n\n'))
      for (const burst of burstsOf(frames.slice(from))) feed.enqueue(burst)
      feeds.add(feed)
    },
    cancel() {
      if (own) feeds.delete(own)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

export function openWire(): Wire {
  const frames: Uint8Array[] = []
  const feeds = new Set<Feed>()
  let isUp = true
  return {
    async fetch(input, init) {
      if (!isUp) throw new TypeError('Failed to fetch')
      const { pathname } = new URL(String(input))
      const path = pathname.replace(/^\/sessions(\/[^/]+)?\/?/, '')
      if (path === 'events') return follow(new Headers(init?.headers), frames, feeds)
      if (path === 'messages')
        return jsonResponse({ messages: [], hasMore: false, eventId: null, rev: 0, session: SESSION })
      return jsonResponse({ sessions: [], hasMore: false })
    },
    say(events) {
      for (const event of events) {
        const frame = frameOf({ id: { n: frames.length + 1, tag: 'live' }, event })
        const bytes = encoder.encode(formatSse(frame))
        frames.push(bytes)
        for (const feed of feeds) feed.enqueue(bytes)
      }
    },
    down() {
      isUp = false
      for (const feed of feeds) feed.error(new TypeError('network error'))
      feeds.clear()
    },
    up() {
      isUp = true
    },
  }
}

/** One question and its answer, as its events. */
export interface ScriptedRun {
  id: string
  begin(): ChatEvent[]
  delta(text: string): ChatEvent
  end(): ChatEvent[]
}

/** The run of that number, the first being 0. */
export function runOf(at: number): ScriptedRun {
  const [questionId, id, runId] = [`q${at}`, `a${at}`, `r${at}`]
  const base = { sessionId: SESSION_ID, ...DATED }
  const rev = at * 4
  const question: Message = {
    role: 'user',
    ...base,
    id: questionId,
    parentId: at === 0 ? null : `a${at - 1}`,
    seq: at * 2 + 1,
    rev: rev + 1,
    status: 'completed',
    content: [{ type: 'text', text: `Question ${at} of this session?` }],
  }
  const answer = { role: 'assistant' as const, ...base, id, parentId: questionId, seq: at * 2 + 2, runId }
  let text = ''
  return {
    id,
    begin: () => [
      { type: 'message.created', message: question },
      { type: 'run.started', runId },
      { type: 'message.created', message: { ...answer, rev: rev + 2, status: 'pending', content: [] } },
      { type: 'message.started', id, runId, rev: rev + 3 },
    ],
    delta(piece) {
      const offset = text.length
      text += piece
      const block = offset === 0 ? { block: { type: 'text' as const, text: '' } } : {}
      return { type: 'message.delta', id, index: 0, ...block, delta: piece, offset }
    },
    end: () => [
      {
        type: 'message.completed',
        message: {
          ...answer,
          rev: rev + 4,
          status: 'completed',
          content: [{ type: 'text', text }],
          stopReason: 'stop',
        },
      },
      { type: 'run.finished', runId, outcome: 'completed' },
    ],
  }
}
