import * as z from 'zod/mini'
import { TidemarkError } from '../../lib/errors.ts'
import { Id, type UserBlock } from '../../message/schema.ts'
import { SendMessage } from '../../protocol/commands.ts'
import { formatEventId, type MessagePage, parseEventId } from '../../protocol/events.ts'
import { type Accepted, needsOfSend, send } from '../decide/send.ts'
import { hashOf, parse, readJson } from '../http/body.ts'
import { jsonResponse } from '../http/errors.ts'
import type { Page, PageQuery } from '../ports.ts'
import { isForeign } from './feed.ts'
import {
  type Call,
  Limit,
  lastEvent,
  openSession,
  pageSize,
  query,
  scopeOf,
  streamEvents,
} from './request.ts'
import { commit, flush } from './runs.ts'

const PagesQuery = z.object({
  after: z.optional(Id),
  before: z.optional(Id),
  changedSince: z.optional(
    z.pipe(
      z.string().check(z.regex(/^\d{1,15}$/)),
      z.transform((text: string) => Number(text)),
    ),
  ),
  limit: Limit,
})

function pageQuery(call: Call): PageQuery {
  const { after, before, changedSince, limit: asked } = query(call, PagesQuery)
  const given = [after, before, changedSince].filter((value) => value !== undefined)
  if (given.length > 1) {
    throw new TidemarkError('invalid-request', 'after, before, changedSince: expected one of them')
  }
  const limit = pageSize(call, asked)
  if (after !== undefined) return { type: 'after', id: after, limit }
  if (before !== undefined) return { type: 'before', id: before, limit }
  return changedSince === undefined
    ? { type: 'newest', limit }
    : { type: 'changed', since: changedSince, limit }
}

async function read(call: Call, asked: PageQuery): Promise<Page> {
  const page = await call.ctx.store.page(scopeOf(call), asked)
  if (page && !page.session.deleted) return page
  // Deleted between the two reads.
  throw new TidemarkError('not-found', 'the session was deleted', { status: 410 })
}

function pageOf({ session, messages, hasMore, limited, rev, deleted }: Page): MessagePage {
  const { events: n, tag } = session
  return {
    messages: [...messages],
    hasMore,
    limited,
    eventId: n > 0 && tag !== null ? formatEventId({ n, tag }) : null,
    rev,
    deleted: [...deleted],
    session: session.session,
  }
}

/**
 * `GET /sessions/:id/messages`, by one of the cursors; without one, the newest. `hasMore` speaks of the direction asked
 * for, and of older ones where the answer is a window (without a cursor, or `limited`). `rev` is what to ask from next
 * once the page is applied. A reader whose last event (`Last-Event-ID`) is of another history gets the newest, `limited`.
 */
export async function getMessages(call: Call): Promise<Response> {
  const { ctx } = call
  const scope = scopeOf(call)
  const asked = pageQuery(call)
  const cursor = lastEvent(call)
  await openSession(call)
  const page = await read(call, asked)
  // Looked at after the page: what was put back before it, this tells.
  if (!cursor || !(await isForeign(ctx, scope, cursor, page.session))) return jsonResponse(pageOf(page))
  const newest = await read(call, { type: 'newest', limit: asked.limit })
  return jsonResponse(pageOf({ ...newest, limited: true }))
}

/** The body of a send, and that its key is its own. */
async function readSend({ request, ctx }: Call): Promise<SendMessage> {
  const body = parse(SendMessage, await readJson(request, ctx.limits))
  const key = request.headers.get('idempotency-key')
  if (key !== null && key !== body.id) {
    throw new TidemarkError('invalid-request', 'idempotency-key: expected the id of the message')
  }
  assertBlocks(body.content, ctx.limits.blocks)
  return body
}

export function assertBlocks(content: readonly UserBlock[], max: number): void {
  if (content.length > max)
    throw new TidemarkError('invalid-request', `content: expected at most ${max} blocks`)
}

const wantsStream = (request: Request): boolean =>
  request.headers.get('accept')?.includes('text/event-stream') ?? false

/**
 * `POST /sessions/:id/messages`: accepts a message. Answered with 202 and where the feed will tell of it, or with that
 * feed itself, from the message's creation to the end of its run.
 */
export async function postMessage(call: Call): Promise<Response> {
  const { ctx, runs, request, account } = call
  const body = await readSend(call)
  const scope = scopeOf(call)
  await openSession(call)
  ctx.traces.note(body.runId, call.traceparent)
  const { tools = [] } = ctx.options
  const hash = await hashOf({ session: scope.sessionId, body })
  const asked = { hash, queue: ctx.limits.queue, tools }
  // Before anything is accepted: a refusal must not leave a message behind.
  const release = wantsStream(request) ? ctx.feeds.take(account) : undefined
  let accepted: Accepted
  try {
    if (body.whenBusy === 'interrupt') await flush(runs, scope)
    const terms = ctx.terms()
    accepted = await commit(
      ctx,
      runs,
      scope,
      needsOfSend(body),
      (view) => send(view, body, terms, asked),
      call.platform,
    )
  } catch (error) {
    release?.()
    throw error
  }
  const { key, message, run } = accepted
  if (release) {
    const until = { runId: body.runId, ended: run?.ended ?? null }
    const cursor = parseEventId(request.headers.get('last-event-id') ?? '')
    return streamEvents(call, release, { scope, cursor, from: key.event.n - 1, until })
  }
  return jsonResponse({ message, runId: body.runId, eventId: formatEventId(key.event) }, 202)
}
