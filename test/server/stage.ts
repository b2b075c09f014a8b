import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import * as z from 'zod/mini'
import { createSseParser, type SseFrame } from '../../src/lib/sse.ts'
import { Message, Session } from '../../src/message/schema.ts'
import { decodeFrame } from '../../src/protocol/codec.ts'
import type { ChatEvent, Envelope } from '../../src/protocol/events.ts'
import { MessagePage } from '../../src/protocol/events.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import type { ChatHandler, ChatHandlerOptions } from '../../src/server/chat/options.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Stage {
  chat: ChatHandler
  /** Failures the handler told its operator. */
  errors: unknown[]
  /** One request, answered. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
}

const ORIGIN = 'http://chat.test'

export function asker(chat: Pick<ChatHandler, 'fetch'>): Stage['ask'] {
  return (method, path, body, headers = {}) =>
    chat.fetch(
      new Request(ORIGIN + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
}

/** A chat handler over a database of its own, closed when the test is over. */
export function stage(options: Partial<ChatHandlerOptions> = {}, file = ':memory:'): Stage {
  const store = options.store ?? sqliteStore(file)
  const errors: unknown[] = []
  const chat = createChatHandler({
    store,
    model: scriptedModel(() => 'Hello there.'),
    batch: 5,
    onError: (error) => errors.push(error),
    ...options,
  })
  onTestFinished(async () => {
    await chat.close()
    await store.close()
  })
  return { chat, errors, ask: asker(chat) }
}

const SessionAnswer = z.object({ session: Session })
export const Accepted = z.object({ message: Message, runId: z.string(), eventId: z.string() })
const Failure = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    retryAfter: z.optional(z.number()),
    field: z.optional(z.string()),
  }),
})

export const sessionIn = async (response: Response): Promise<Session> =>
  SessionAnswer.parse(await response.json()).session

export const acceptedIn = async (response: Response) => Accepted.parse(await response.json())

/** Status, code and message of a refusal. */
export async function failureIn(
  response: Response,
): Promise<{ status: number; code: string; message: string; field?: string | undefined }> {
  const { error } = Failure.parse(await response.json())
  const { code, message, field } = error
  return { status: response.status, code, message, ...(field && { field }) }
}

export async function createSession(ask: Stage['ask'], id = 's1'): Promise<Session> {
  return sessionIn(await ask('POST', '/sessions', { id }))
}

export const sendBody = (id: string, parentId: string | null = null, text = `say ${id}`) => ({
  id,
  runId: `run-${id}`,
  parentId,
  content: [{ type: 'text', text }],
})

/** Frames of an event stream, one array a chunk. */
export async function* frames(
  response: Response,
): AsyncGenerator<{ frames: SseFrame[]; comments: string[] }> {
  if (!response.body) throw new Error('no body')
  let batch = { frames: [] as SseFrame[], comments: [] as string[] }
  const parser = createSseParser({
    onFrame: (frame) => batch.frames.push(frame),
    onComment: (comment) => batch.comments.push(comment),
  })
  for await (const bytes of response.body) {
    parser.feed(bytes)
    yield batch
    batch = { frames: [], comments: [] }
  }
}

function envelopeOf(frame: SseFrame, sessionId: string): Envelope {
  const decoded = decodeFrame(frame, { sessionId, now: 0, parentId: null })
  if (decoded.type !== 'event') throw new Error(`not an event: ${JSON.stringify(frame)}`)
  return decoded.envelope
}

/** Events of a stream up to the one `last` says, or to its end. */
export async function eventsOf(
  response: Response,
  last: (event: ChatEvent) => boolean = () => false,
  sessionId = 's1',
): Promise<Envelope[]> {
  const events: Envelope[] = []
  for await (const { frames: batch } of frames(response)) {
    for (const frame of batch) {
      const envelope = envelopeOf(frame, sessionId)
      events.push(envelope)
      if (last(envelope.event)) return events
    }
  }
  return events
}

/** The session's feed from a cursor until a run has ended. */
export async function feedUntil(
  ask: Stage['ask'],
  runId: string,
  cursor?: string,
  sessionId = 's1',
): Promise<Envelope[]> {
  const headers = cursor === undefined ? {} : { 'last-event-id': cursor }
  const response = await ask('GET', `/sessions/${sessionId}/events`, undefined, headers)
  return eventsOf(response, (event) => event.type === 'run.finished' && event.runId === runId, sessionId)
}

export async function pageOf(ask: Stage['ask'], query = '', sessionId = 's1'): Promise<MessagePage> {
  const response = await ask('GET', `/sessions/${sessionId}/messages${query}`)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return MessagePage.parse(await response.json())
}

/** A command to the session. */
export const command = (ask: Stage['ask'], body: object) => ask('POST', '/sessions/s1/commands', body)

/** One question, asked and answered: the id of its answer. */
export async function turn(ask: Stage['ask'], id: string): Promise<string> {
  const parent = (await pageOf(ask)).session?.headId ?? null
  await ask('POST', '/sessions/s1/messages', sendBody(id, parent))
  await feedUntil(ask, `run-${id}`)
  return headOf(ask)
}

export const headOf = async (ask: Stage['ask']): Promise<string> => (await pageOf(ask)).session?.headId ?? ''

export const typesOf = (events: readonly Envelope[]): string[] => events.map(({ event }) => event.type)

/** What is looked at again and again until it is as expected; patient, since machines are busy. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 9_000 })
