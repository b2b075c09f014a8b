import { createChat } from '../src/chat/create.ts'
import type { ChatSession } from '../src/chat/types.ts'
import { createSseParser } from '../src/lib/sse.ts'
import type { Message } from '../src/message/schema.ts'
import { textOf } from '../src/message/text.ts'
import { decodeFrame } from '../src/protocol/codec.ts'
import type { Envelope } from '../src/protocol/events.ts'
import { remote } from '../src/runtime/remote.ts'
import { memoryStorage } from '../src/storage/memory.ts'
import { seen } from '../test/support/seen.ts'
import { type Answer, answerOf, type Chunking, chunkingName, chunksOf } from './answer.ts'
import type { Case, Contestant } from './measure.ts'
import { ANSWER_ID, answerEvents, memoryServer, SESSION_ID } from './server.ts'
import { eventStreamResponse, timed } from './stream.ts'

/** Another library's way from an answer's bytes to whoever watches. */
export interface StorePeer {
  name: string
  /** The same deltas in its dialect. */
  contestant(answer: Answer, chunking: Chunking): Contestant
}

export interface StoreSizes {
  deltas: number
  /** For the cost of a delta in a short and in a long answer. */
  few: number
  many: number
  /** Messages of a session with a past. */
  history: number
}

export function assertText(name: string, heard: string | undefined, { text }: Answer): void {
  if (heard === text) return
  throw new Error(
    `${name} ended with ${heard?.length ?? 'no'} characters that are not the ${text.length} sent`,
  )
}

const QUESTION = 'What is a tidemark?'

/** Resolves when the session's feed is open, and its past is there. */
function opened(session: ChatSession, history: number): Promise<void> {
  return seen(session, () => {
    const { connection, messages } = session.get()
    return connection === 'online' && messages.length === history
  })
}

/** Ids in the order in which they are asked for, so that each run asks the same question. */
function countedIds(): () => string {
  let count = 0
  return () => `id${count++}`
}

/** A subscriber that reads what it is told of. */
interface Watcher {
  /** Milliseconds spent on notifications so far. */
  time(): number
  /** Resolves when the end of the run was read. */
  readonly end: Promise<void>
}

function watch(session: ChatSession): Watcher {
  let time = 0
  let last: Message | undefined
  const end = new Promise<void>((resolve) => {
    session.subscribe(() => {
      const start = performance.now()
      const { messages, status } = session.get()
      last = messages.at(-1)
      time += performance.now() - start
      if (status === 'ready' && last?.role === 'assistant' && last.id === ANSWER_ID) resolve()
    })
  })
  return { time: () => time, end }
}

interface Run {
  answer: Answer
  chunking: Chunking
  /** Messages that are there before. @default 0 */
  history?: number
}

/** The whole way: fetch, SSE, events, reduce, store, storage, a subscriber that reads at each notification. */
export function tidemark(name: string, { answer, chunking, history = 0 }: Run): Contestant {
  const server = memoryServer({ answer, chunking, history })
  return {
    name,
    units: answer.deltas.length,
    async run() {
      const { fetch, elapsed } = server.open()
      const runtime = remote({ url: 'http://bench.invalid', fetch })
      const chat = createChat({ storage: memoryStorage(), runtime, env: { createId: countedIds() } })
      const session = chat.session(SESSION_ID)
      await opened(session, history)
      const watcher = watch(session)
      const sent = await session.send(QUESTION)
      const message = await sent.answer
      const applied = elapsed()
      // The last notification comes with the next frame: the wait for it is no work, the reading is.
      const before = watcher.time()
      await watcher.end
      assertText(name, textOf(message), answer)
      await chat.close()
      return applied + watcher.time() - before
    },
  }
}

/** The same bytes without a store: read, parsed, decoded, handed to a callback once a chunk. */
function loop({ answer, chunking }: Run): Contestant {
  const sent = {
    id: 'id0',
    runId: 'id1',
    parentId: null,
    content: [{ type: 'text' as const, text: QUESTION }],
  }
  const chunks = chunksOf(answerEvents(answer, sent, 0), chunking)
  const defaults = { sessionId: SESSION_ID, now: 0, parentId: null }
  return {
    name: FLOOR,
    units: answer.deltas.length,
    async run() {
      const { source, elapsed } = timed(chunks)
      const heard: Envelope[][] = []
      const onChunk = (batch: Envelope[]) => heard.push(batch)
      let batch: Envelope[] = []
      const parser = createSseParser({
        onFrame(frame) {
          const decoded = decodeFrame(frame, defaults)
          if (decoded.type === 'event') batch.push(decoded.envelope)
        },
      })
      const reader = eventStreamResponse(source).body?.getReader()
      for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
        parser.feed(piece.value)
        onChunk(batch)
        batch = []
      }
      const time = elapsed()
      const deltas = heard.flat().map(({ event }) => (event.type === 'message.delta' ? event.delta : ''))
      assertText(FLOOR, deltas.join(''), answer)
      return time
    },
  }
}

const OURS = 'tidemark'
const FLOOR = 'the same loop without a store'
/** Whom the budget names. */
const AI_SDK = 'AI SDK 7'

function beside(chunking: Chunking, deltas: number, peers: readonly StorePeer[]): Case {
  const answer = answerOf(deltas)
  return {
    name: `store: ${chunkingName(chunking)}`,
    unit: 'delta',
    contestants: [
      tidemark(OURS, { answer, chunking }),
      loop({ answer, chunking }),
      ...peers.map((peer) => peer.contestant(answer, chunking)),
    ],
    claims: [
      { of: OURS, to: FLOOR, most: 1.3 },
      ...peers.map(({ name }) => ({ of: name, to: OURS, ...(name === AI_SDK && { least: 10 }) })),
    ],
  }
}

/** Two runs that differ in one number, and must not differ in what a delta costs. */
function scaling(name: string, most: number, [large, small]: readonly [Contestant, Contestant]): Case {
  return {
    name: `store: ${name}`,
    unit: 'delta',
    contestants: [large, small],
    claims: [{ of: large.name, to: small.name, most }],
  }
}

const CHUNK = 16_384
const count = (figure: number): string => figure.toLocaleString('en')

export function storeCases({ deltas, few, many, history }: StoreSizes, peers: readonly StorePeer[]): Case[] {
  const long = (length: number) =>
    tidemark(`${count(length)} deltas`, { answer: answerOf(length), chunking: CHUNK })
  const after = (past: number) =>
    tidemark(`after ${count(past)} messages`, { answer: answerOf(deltas), chunking: CHUNK, history: past })
  return [
    beside(CHUNK, deltas, peers),
    beside('event', deltas, peers),
    scaling('a long answer', 1.2, [long(many), long(few)]),
    scaling('a long history', 1.1, [after(history), after(0)]),
  ]
}
