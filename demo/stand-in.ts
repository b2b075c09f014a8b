import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { answerTo, cardOf, type Said } from './stand-in/answer.ts'
import { callFor, type WantedCall } from './stand-in/calls.ts'

export interface StandInOptions {
  /** Milliseconds between two pieces of a streamed answer; 0 sends them as fast as they are read. @default 28 */
  pace?: number
  /** Waits; rejects when the signal is aborted. @default the platform's timer */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

const MODEL = 'stand-in'

const Part = z.looseObject({ type: z.string(), text: z.optional(z.string()) })
const Body = z.looseObject({
  model: z._default(z.string(), MODEL),
  stream: z._default(z.boolean(), false),
  stream_options: z.optional(z.nullable(z.looseObject({ include_usage: z.optional(z.boolean()) }))),
  max_tokens: z.optional(z.nullable(z.number())),
  max_completion_tokens: z.optional(z.nullable(z.number())),
  tools: z.optional(z.nullable(z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })))),
  response_format: z.optional(z.nullable(z.looseObject({ type: z.string() }))),
  messages: z
    .array(
      z.looseObject({
        role: z.string(),
        content: z.optional(z.nullable(z.union([z.string(), z.array(Part)]))),
      }),
    )
    .check(z.minLength(1)),
})
type Body = z.infer<typeof Body>

/** An answer that is known before its first word is sent. */
interface Answer {
  id: string
  model: string
  /** In the pieces in which it is streamed: about a token each. */
  pieces: string[]
  /** Made instead of an answer. */
  call: WantedCall | undefined
  finish: 'stop' | 'length' | 'tool_calls'
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

/**
 * A local stand-in for a model: speaks the Chat Completions format over HTTP, so that everything around a model can be seen
 * at work without one, and without a key. The same conversation gets the same answer.
 */
export function createStandIn({
  pace = 28,
  sleep: wait = (ms, signal) => sleep(ms, undefined, { signal }),
}: StandInOptions = {}): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/models') && request.method === 'GET')
      return Response.json({
        object: 'list',
        data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'this machine' }],
      })
    if (!pathname.endsWith('/chat/completions')) return failure(404, `There is nothing at ${pathname}.`)
    if (request.method !== 'POST') return failure(405, 'Use POST.')
    const body = Body.safeParse(await request.json().catch(() => undefined))
    if (!body.success) return failure(400, z.prettifyError(body.error))
    const answer = answerOf(body.data)
    if (!body.data.stream) return Response.json(wholeOf(answer))
    const usage = body.data.stream_options?.include_usage === true
    return new Response(paced(framesOf(answer, usage), pace, wait, request.signal), {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    })
  }
}

const failure = (status: number, message: string): Response =>
  Response.json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, { status })

function answerOf(body: Body): Answer {
  const said = body.messages.map(({ role, content }): Said => {
    const text =
      typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n')
    return { role, text }
  })
  const call = callFor(
    said,
    (body.tools ?? []).map(({ function: { name } }) => name),
  )
  // Of all shapes that one may ask for, it knows one.
  const isCard = body.response_format?.type === 'json_schema'
  const all = call ? [] : piecesOf(isCard ? cardOf(said) : answerTo(said))
  const most = body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY
  const pieces = all.slice(0, most)
  const prompt = said.reduce((sum, { text }) => sum + piecesOf(text).length + 4, 3)
  return {
    id: `chatcmpl-${MODEL}-${said.length}`,
    model: body.model,
    pieces,
    call,
    finish: call ? 'tool_calls' : pieces.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens: prompt, completion_tokens: pieces.length, total_tokens: prompt + pieces.length },
  }
}

/** A text in pieces of a word or a part of one, white space in front. */
const piecesOf = (text: string): string[] => text.match(/\s*\S{1,7}|\s+$/gu) ?? []

const spelt = ({ id, name, arguments: args }: WantedCall) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})

const wholeOf = ({ id, model, pieces, call, finish, usage }: Answer): object => ({
  id,
  object: 'chat.completion',
  created: 0,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: call ? null : pieces.join(''),
        refusal: null,
        ...(call && { tool_calls: [spelt(call)] }),
      },
      finish_reason: finish,
    },
  ],
  usage,
})

interface Frame {
  text: string
  /** How many times the usual pause comes before it. */
  pause: number
}

function* framesOf({ id, model, pieces, call, finish, usage }: Answer, withUsage: boolean): Generator<Frame> {
  const common = { id, object: 'chat.completion.chunk', created: 0, model }
  const frame = (fields: object, pause = 0): Frame => ({
    text: `data: ${JSON.stringify({ ...common, ...fields })}\n\n`,
    pause,
  })
  const choice = (delta: object, reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  yield frame(choice({ role: 'assistant', content: '' }), 4)
  // A breath before each paragraph.
  for (const piece of pieces) yield frame(choice({ content: piece }), piece.startsWith('\n\n') ? 6 : 1)
  if (call) yield frame(choice({ tool_calls: [{ index: 0, ...spelt(call) }] }), 6)
  yield frame(choice({}, finish))
  if (withUsage) yield frame({ choices: [], usage })
  yield { text: 'data: [DONE]\n\n', pause: 0 }
}

/** Frames as bytes, each after its pause. Ends when the client leaves: then nobody waits for the rest. */
function paced(
  frames: Iterator<Frame>,
  pace: number,
  wait: (ms: number, signal: AbortSignal) => Promise<void>,
  client: AbortSignal,
): ReadableStream<Uint8Array> {
  const left = new AbortController()
  const leave = () => left.abort()
  client.addEventListener('abort', leave, { once: true })
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = frames.next()
      if (done || left.signal.aborted) return controller.close()
      try {
        if (value.pause * pace > 0) await wait(value.pause * pace, left.signal)
        controller.enqueue(encoder.encode(value.text))
      } catch (thrown) {
        // Only leaving ends a pause early, and whoever left hears nothing.
        controller.error(thrown)
      }
    },
    cancel: leave,
  })
}
