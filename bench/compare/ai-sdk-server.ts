import type { UIMessage } from 'ai'
import * as z from 'zod/mini'
import type { OpenBackend } from './backend.ts'
import { follow, type RunLog, startRun } from './run-log.ts'
import { ANSWER, PIECES } from './story.ts'

const Message = z.looseObject({ id: z.string() })
const Asked = z.object({ message: Message })
type Message = z.infer<typeof Message>

const LEAD = 3

function framesOf(messageId: string): string[] {
  const id = 'text'
  const chunks = [
    { type: 'start', messageId },
    { type: 'start-step' },
    { type: 'text-start', id },
    ...PIECES.map((delta) => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
    { type: 'finish-step' },
    { type: 'finish' },
  ]
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n']
}

const answerMessage = (id: string): UIMessage => ({
  id,
  role: 'assistant',
  parts: [{ type: 'text', text: ANSWER, state: 'done' }],
})

const streamed = (run: RunLog): Response =>
  new Response(follow(run, 0), {
    headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  })

/**
 * The server that AI SDK's guide "Chatbot Resume Streams" has one build: questions are stored when they come, answers when
 * they end, and a stream that is under way is replayed from its start. A question that comes again takes its old place.
 */
export const aiSdkBackend: OpenBackend = (pace) => {
  let messages: Message[] = []
  let active: RunLog | undefined
  let runs = 0
  return {
    runs: () => runs,
    async fetch(request, path) {
      if (request.method === 'GET' && path === '') return Response.json(messages)
      if (request.method === 'GET') return active ? streamed(active) : new Response(null, { status: 204 })
      const { message } = Asked.parse(await request.json())
      const known = messages.findIndex(({ id }) => id === message.id)
      messages = [...(known === -1 ? messages : messages.slice(0, known)), message]
      runs += 1
      const answerId = `answer-${runs}`
      const run = startRun(framesOf(answerId), LEAD, pace, () => {
        messages.push({ ...answerMessage(answerId) })
        if (active === run) active = undefined
      })
      active = run
      return streamed(run)
    },
    async close() {},
  }
}
