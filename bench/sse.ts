import { createSseParser, formatSse } from '../src/lib/sse.ts'
import { answerOf, type Chunking, chunkingName, chunksOf } from './answer.ts'
import type { Case, Contestant } from './measure.ts'
import { type Chunks, clearYoung, eventStreamResponse, timed } from './stream.ts'

/** Another library's way from an answer's bytes to parsed events. */
export interface SsePeer {
  name: string
  /** Calls with the JSON of each event, in order. */
  read(response: Response, onEvent: (data: unknown) => void): Promise<void>
}

export interface SseSizes {
  events: number
  /** For the cost of an event among few and among many. */
  many: number
}

const KNOWN = {
  type: 'TEXT_MESSAGE_CONTENT',
  messageId: 'msg_68a1f0c2d97c8191b1f7e4a95c3d02e6',
  timestamp: 1_753_700_000_000,
  model: 'gpt-4o-mini-2024-07-18',
}

/** Payloads that every contestant's dialect takes for an event: an answer's text as AG-UI has it, with ids of usual length. */
const payloadsOf = (deltas: readonly string[]): string[] =>
  deltas.map((delta) => JSON.stringify({ ...KNOWN, delta }))

/** Follows an answer as it comes, so that nobody is fast by leaving something out. Keeps nothing of it. */
function follow(text: string): { onEvent(data: unknown): void; check(): void } {
  let heard = 0
  let same = true
  return {
    onEvent(data) {
      if (typeof data !== 'object' || data === null || !('delta' in data)) return
      const delta = String(data.delta)
      same &&= text.startsWith(delta, heard)
      heard += delta.length
    },
    check() {
      if (!same || heard !== text.length)
        throw new Error(`heard ${heard} characters that are not the ${text.length} sent`)
    },
  }
}

/** A contestant that is handed chunk after chunk. */
function reads(
  name: string,
  text: string,
  units: number,
  read: (onEvent: (data: unknown) => void) => void,
): Contestant {
  return {
    name,
    units,
    run() {
      const { onEvent, check } = follow(text)
      clearYoung()
      const start = performance.now()
      read(onEvent)
      const time = performance.now() - start
      check()
      return time
    },
  }
}

/** A contestant that is handed a response. */
function readsResponse({ name, read }: SsePeer, text: string, units: number, chunks: Chunks): Contestant {
  return {
    name,
    units,
    every: name === FROM_RESPONSE ? 1 : 3,
    async run() {
      const { onEvent, check } = follow(text)
      const { source, elapsed } = timed(chunks)
      await read(eventStreamResponse(source), onEvent)
      const time = elapsed()
      check()
      return time
    },
  }
}

function parse(chunks: Chunks, onEvent: (data: unknown) => void): void {
  const parser = createSseParser({ onFrame: ({ data }) => onEvent(JSON.parse(data)) })
  for (const chunk of chunks) parser.feed(chunk)
}

/** How many events are complete once each chunk has come. */
function completeAfter(chunks: Chunks, events: readonly string[]): number[] {
  const encoder = new TextEncoder()
  const ends: number[] = []
  for (const event of events) ends.push((ends.at(-1) ?? 0) + encoder.encode(event).length)
  let bytes = 0
  let complete = 0
  return chunks.map(({ length }) => {
    bytes += length
    while ((ends[complete] ?? Number.POSITIVE_INFINITY) <= bytes) complete++
    return complete
  })
}

/** What cannot be left out, in the order in which it comes: bytes become text, and payloads that are there objects. */
function decode(
  chunks: Chunks,
  complete: readonly number[],
  payloads: readonly string[],
  onEvent: (data: unknown) => void,
): void {
  const decoder = new TextDecoder()
  let parsed = 0
  for (const [at, chunk] of chunks.entries()) {
    decoder.decode(chunk, { stream: true })
    for (const until = complete[at] ?? 0; parsed < until; parsed++)
      onEvent(JSON.parse(payloads[parsed] ?? ''))
  }
}

const OURS = 'tidemark'
const FLOOR = 'TextDecoder + JSON.parse'
const FROM_RESPONSE = 'tidemark, from a Response'

const ours: SsePeer = {
  name: FROM_RESPONSE,
  async read(response, onEvent) {
    const parser = createSseParser({ onFrame: ({ data }) => onEvent(JSON.parse(data)) })
    const reader = response.body?.getReader()
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
      parser.feed(piece.value)
  },
}

function atChunking(chunking: Chunking, events: number, peers: readonly SsePeer[]): Case {
  const { deltas, text } = answerOf(events)
  const payloads = payloadsOf(deltas)
  const lines = payloads.map((data) => formatSse({ data }))
  const chunks = chunksOf(lines, chunking)
  const complete = completeAfter(chunks, lines)
  return {
    name: `sse: ${chunkingName(chunking)}`,
    unit: 'event',
    contestants: [
      reads(OURS, text, events, (onEvent) => parse(chunks, onEvent)),
      reads(FLOOR, text, events, (onEvent) => decode(chunks, complete, payloads, onEvent)),
      ...[ours, ...peers].map((peer) => readsResponse(peer, text, events, chunks)),
    ],
    claims: [
      { of: OURS, to: FLOOR, ...(chunking !== 'whole' && { most: 1.6 }) },
      ...peers.map(({ name }) => ({ of: name, to: FROM_RESPONSE })),
    ],
  }
}

/** Ten times as many events must not cost more than ten times as much. */
function linearity({ events, many }: SseSizes): Case {
  const contestants = [many, events].map((count) => {
    const { deltas, text } = answerOf(count)
    const chunks = chunksOf(
      payloadsOf(deltas).map((data) => formatSse({ data })),
      16_384,
    )
    return reads(countName(count), text, count, (onEvent) => parse(chunks, onEvent))
  })
  return {
    name: `sse: ${countName(many)}`,
    unit: 'event',
    contestants,
    claims: [{ of: countName(many), to: countName(events), most: 1.2 }],
  }
}

const countName = (count: number): string => `${count.toLocaleString('en')} events`

export const sseCases = (sizes: SseSizes, peers: readonly SsePeer[]): Case[] => [
  ...(['event', 256, 1024, 4096, 16_384, 65_536, 'whole'] as const).map((chunking) =>
    atChunking(chunking, sizes.events, peers),
  ),
  linearity(sizes),
]
