import { TidemarkError } from '../../lib/errors.ts'
import { readCalls } from '../../turn/call-log.ts'
import { jsonResponse } from '../http/errors.ts'
import { type Call, openSession, scopeOf } from './request.ts'

/** `GET /sessions/:id/calls`: what was sent to the model and what came back, the oldest first, as far as it is kept. */
export async function getCalls(call: Call): Promise<Response> {
  await openSession(call)
  const records = call.ctx.store.records?.(scopeOf(call))
  if (!records) throw new TidemarkError('not-found', 'this server keeps no calls')
  return jsonResponse({ calls: await readCalls(records) })
}
