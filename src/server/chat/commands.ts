import { TidemarkError } from '../../lib/errors.ts'
import { Command } from '../../protocol/commands.ts'
import { formatEventId } from '../../protocol/events.ts'
import { command, needsOfCommand } from '../decide/commands.ts'
import { hashOf, parse, readJson } from '../http/body.ts'
import { jsonResponse } from '../http/errors.ts'
import { assertBlocks } from './messages.ts'
import { type Call, openSession, scopeOf } from './request.ts'
import { commit, flush } from './runs.ts'

/** The same as for a message: the id is the key. */
async function readCommand({ request, ctx }: Call): Promise<Command> {
  const body = parse(Command, await readJson(request, ctx.limits))
  const key = request.headers.get('idempotency-key')
  if (key !== null && key !== body.id) {
    throw new TidemarkError('invalid-request', 'idempotency-key: expected the id of the command')
  }
  if (body.type === 'edit') assertBlocks(body.content, ctx.limits.blocks)
  return body
}

/** `POST /sessions/:id/commands`: does what is asked, once by its id. */
export async function postCommand(call: Call): Promise<Response> {
  const { ctx, runs } = call
  const body = await readCommand(call)
  const scope = scopeOf(call)
  await openSession(call)
  if ('runId' in body && body.type !== 'cancel') ctx.traces.note(body.runId, call.traceparent)
  const { tools = [] } = ctx.options
  const hash = await hashOf({ session: scope.sessionId, body })
  const asked = { hash, queue: ctx.limits.queue, tools }
  // What the model has said so far is kept, also what has not been committed yet.
  if (body.type === 'cancel') await flush(runs, scope)
  const terms = ctx.terms()
  const { key, message } = await commit(
    ctx,
    runs,
    scope,
    needsOfCommand(body),
    (view) => command(view, body, terms, asked),
    call.platform,
  )
  return jsonResponse(
    {
      id: body.id,
      type: body.type,
      eventId: formatEventId(key.event),
      ...(key.runId !== null && { runId: key.runId }),
      ...(message && { message }),
    },
    202,
  )
}
