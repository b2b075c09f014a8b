import { errorFrom, TidemarkError } from '../lib/errors.ts'
import type { Schema } from '../lib/standard-schema.ts'
import type { AssistantMessage, Message, UserBlock } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { type Arguments, type Tool, type ToolContext, type ToolOptions, tool } from './tool.ts'

/** What a sub-run needs of a session, as a chat's own has it. */
export interface SubSession {
  get(): { readonly messages: readonly Message[]; readonly status: string }
  subscribe(listener: () => void): () => void
  send(
    input: string | readonly UserBlock[],
    options: { id: string; session: { metadata: Record<string, unknown> } },
  ): Promise<{ answer: Promise<Message> }>
  retry(messageId: string): Promise<{ answer: Promise<Message> }>
  stop(): Promise<void>
}

export interface SessionToolOptions<S extends Schema = Schema>
  extends Pick<
    ToolOptions<S>,
    'description' | 'jsonSchema' | 'strict' | 'needsApproval' | 'approvalTimeout' | 'maxTokens'
  > {
  name: string
  /** Where the sub-runs are: the chat itself, or another one with a model, instructions and tools of its own. */
  chat(): { session(id: string): SubSession }
  /** @default an object with one text, `task` */
  parameters?: S
  /** What is said in the new session. @default the arguments' `task` */
  input?: (args: Arguments<S>) => string | readonly UserBlock[]
  /** Most sub-runs within one another. @default 2 */
  maxDepth?: number
  /** Milliseconds after which a sub-run is stopped. @default none */
  timeout?: number
}

/** As long as a timer can wait. */
const FOR_EVER = 2 ** 31 - 1

const TASK = { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] }

/** How deep a session is among sub-runs. */
const depthOf = (sessionId: string): number => Number(/^sub(\d+)_/.exec(sessionId)?.[1] ?? 0)

const subSession = (sessionId: string, key: string): string =>
  `sub${depthOf(sessionId) + 1}_${key.slice(-48)}`

/**
 * The id of the session in which a `sessionTool` does the call at this place of an answer's content, on a server as in the
 * page: to show what is under way there, and what waits to be allowed.
 */
export const subSessionOf = (answer: Pick<AssistantMessage, 'id' | 'sessionId'>, index: number): string =>
  subSession(answer.sessionId, `${answer.id}_${index}`)

/** Resolves once nothing is under way in a session any more, as far as is known here. */
function resting(session: SubSession, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (session.get().status !== 'ready' && !signal.aborted) return
      end()
      signal.removeEventListener('abort', look)
      resolve()
    }
    const end = session.subscribe(look)
    signal.addEventListener('abort', look, { once: true })
    look()
  })
}

/** An answer that a crash cut off is asked for once more, unless that was done before. */
async function mended(session: SubSession, answer: Message, signal: AbortSignal): Promise<Message> {
  await resting(session, signal)
  const last = session.get().messages.at(-1)
  if (last?.role === 'assistant' && last.status === 'completed') return last
  return (await session.retry(answer.id)).answer
}

/** A sub-run to its end; the same one where the call was begun before. */
async function runIn(
  session: SubSession,
  said: string | readonly UserBlock[],
  { id, of }: { id: string; of: Record<string, unknown> },
  { signal, attempt }: ToolContext,
): Promise<string> {
  const stop = () => {
    // Where the chat is closed there is nothing left to stop.
    session.stop().catch(() => undefined)
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    const sent = await session.send(said, { id: `${id}_q`, session: { metadata: { subRun: of } } })
    if (signal.aborted) stop()
    let answer = await sent.answer
    if (answer.status === 'interrupted' && attempt > 1) answer = await mended(session, answer, signal)
    if (answer.error) throw errorFrom(answer.error)
    if (answer.status !== 'completed') throw new TidemarkError('aborted', 'the sub-run was stopped')
    // Its calls were answered, and nobody asked the model what it makes of that.
    if (answer.role === 'assistant' && answer.stopReason === 'toolUse')
      throw new TidemarkError('aborted', 'the sub-run ended before it had an answer')
    return textOf(answer)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * A tool that has its task done by a run of its own, in a session of its own, whose answer is all that the caller sees. The
 * session is named after the call: one that is executed again after a crash finds the run that it began. Stopping the caller
 * stops the sub-run. Such sessions are listed like others; `session.metadata.subRun` says whose they are.
 *
 * @example
 * const research = sessionTool({ name: 'research', description: 'Looks something up.', chat: () => chat })
 * const chat = createChat({ storage, runtime: direct({ model, tools: [research] }) })
 */
export function sessionTool<const S extends Schema = Schema>({
  chat,
  parameters,
  input,
  maxDepth = 2,
  timeout = FOR_EVER,
  ...options
}: SessionToolOptions<S>): Tool {
  const schema: Schema = parameters ?? TASK
  return tool({
    // What is checked by a schema is of its type.
    ...(options as Omit<ToolOptions, 'parameters'>),
    parameters: schema,
    timeout,
    idempotent: true,
    async execute(args, context) {
      const { key, sessionId } = context
      if (depthOf(sessionId) >= maxDepth)
        throw new TidemarkError('invalid-request', `a sub-run of ${maxDepth} others begins no other`)
      const said = input ? input(args as Arguments<S>) : String(Object(args).task)
      const id = subSession(sessionId, key)
      return runIn(chat().session(id), said, { id, of: { sessionId, key } }, context)
    },
  })
}
