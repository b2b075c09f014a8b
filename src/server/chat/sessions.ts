import * as z from 'zod/mini'
import { TidemarkError } from '../../lib/errors.ts'
import { Id } from '../../message/schema.ts'
import { CreateSession, PatchSession } from '../../protocol/commands.ts'
import { createSession, deleteSession, patchSession } from '../decide/sessions.ts'
import { parse, readJson } from '../http/body.ts'
import { jsonResponse } from '../http/errors.ts'
import { type Call, Limit, openSession, pageSize, query, scopeOf } from './request.ts'
import { commit } from './runs.ts'
import { write } from './write.ts'

/** `POST /sessions`: 201 for a new one, 200 for one that this account has already. */
export async function postSession(call: Call): Promise<Response> {
  const { ctx, request, account } = call
  const body = parse(CreateSession, await readJson(request, ctx.limits))
  const scope = { account, sessionId: body.id ?? ctx.env.createId() }
  const terms = ctx.terms()
  const { session, fresh } = await write(ctx, scope, {}, (view) => createSession(view, scope, body, terms))
  return jsonResponse({ session }, fresh ? 201 : 200)
}

const ListQuery = z.object({ after: z.optional(Id), limit: Limit })

/** `GET /sessions`: newest first. */
export async function listSessions(call: Call): Promise<Response> {
  const { after, limit } = query(call, ListQuery)
  const page = { limit: pageSize(call, limit), ...(after !== undefined && { after }) }
  const list = await call.ctx.store.sessions(call.account, page)
  if (!list) throw new TidemarkError('not-found', `after: no session ${after}`)
  return jsonResponse(list)
}

export async function getSession(call: Call): Promise<Response> {
  const { session } = await openSession(call)
  return jsonResponse({ session })
}

export async function patchSessionRoute(call: Call): Promise<Response> {
  const { ctx, request } = call
  const body = parse(PatchSession, await readJson(request, ctx.limits))
  const messages = typeof body.headId === 'string' ? [body.headId] : []
  const terms = ctx.terms()
  const session = await write(ctx, scopeOf(call), { messages }, (view) => patchSession(view, body, terms))
  return jsonResponse({ session })
}

/** `DELETE /sessions/:id`: 204, also when it is repeated. */
export async function deleteSessionRoute(call: Call): Promise<Response> {
  const { ctx, runs } = call
  const terms = ctx.terms()
  await commit(ctx, runs, scopeOf(call), {}, (view) => deleteSession(view, terms))
  return new Response(null, { status: 204 })
}
