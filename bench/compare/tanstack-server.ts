import * as z from 'zod/mini'
import type { OpenBackend } from './backend.ts'
import { follow, type RunLog, startRun } from './run-log.ts'
import { PIECES } from './story.ts'

const Asked = z.object({ threadId: z.string(), runId: z.string() })
type Asked = z.infer<typeof Asked>

const LEAD = 2

function framesOf(ids: Asked, messageId: string): string[] {
  const events = [
    { type: 'RUN_STARTED', ...ids },
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    ...PIECES.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
    { type: 'TEXT_MESSAGE_END', messageId },
    { type: 'RUN_FINISHED', ...ids, finishReason: 'stop' },
  ]
  return events.map((event, at) => `id: ${at}\ndata: ${JSON.stringify(event)}\n\n`)
}

const streamed = (run: RunLog, from: number): Response =>
  new Response(follow(run, from), { headers: { 'content-type': 'text/event-stream' } })

/**
 * The server that TanStack AI's durable streams ask for: a log per run, keyed by the client's run id, read on from
 * `Last-Event-ID` or joined from its start. The history is the client's.
 */
export const tanstackBackend: OpenBackend = (pace) => {
  const logs = new Map<string, RunLog>()
  return {
    runs: () => logs.size,
    async fetch(request) {
      const joined = logs.get(new URL(request.url).searchParams.get('runId') ?? '')
      if (request.method === 'GET') return joined ? streamed(joined, 0) : new Response(null, { status: 404 })
      const asked = Asked.parse(await request.json())
      const known = logs.get(asked.runId)
      const last = request.headers.get('last-event-id')
      if (known) return streamed(known, last === null ? 0 : Number(last) + 1)
      const run = startRun(framesOf(asked, `answer-${logs.size + 1}`), LEAD, pace, () => {})
      logs.set(asked.runId, run)
      return streamed(run, 0)
    },
    async close() {},
  }
}
