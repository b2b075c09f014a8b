import type { ToolSpec } from '../adapters/contract.ts'
import {
  type AssistantMessage,
  type Message,
  SCHEMA_VERSION,
  type ToolCallBlock,
  type ToolMessage,
  type Usage,
} from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { type Gate, openGate } from './gate.ts'
import type { RunOptions } from './run-turn.ts'
import { createWriter, type Writer } from './writer.ts'

/** A run under way. */
export interface Run {
  readonly options: RunOptions
  /** The branch up to what is answered. */
  readonly history: readonly Message[]
  readonly specs: readonly ToolSpec[]
  readonly gate: Gate
  readonly writer: Writer
  /** The messages of this run: settled, but for the results of its last calls. */
  readonly trail: Message[]
  /** What each model call cost; undefined for one that did not say. */
  readonly usages: (Usage | undefined)[]
  /**
   * When the trail was read, in milliseconds since the epoch. What was said of a call since, the run does not know: no call
   * is too late for it that was not too late then.
   */
  readonly readAt: number
  /** The answer to go on with, until that is done. */
  resumed: AssistantMessage | undefined
  /** Most tokens to send, once the model has refused more. */
  room: number | undefined
}

/** Puts a message into the trail, in the place of what it was before. */
export function putInTrail({ trail }: Pick<Run, 'trail'>, message: Message): void {
  const at = trail.findIndex(({ id }) => id === message.id)
  if (at < 0) trail.push(message)
  else trail[at] = message
}

/** A run answers a message that was accepted, whatever its owner has written of that so far. */
export const accepted = (message: Message): Message =>
  message.role === 'user' && message.status === 'pending' ? { ...message, status: 'completed' } : message

/** The tools as a model sees them. */
export const specsOf = (tools: RunOptions['tools'] = []): ToolSpec[] => tools.map(({ spec }) => spec)

export function openRun(options: RunOptions): Run {
  const gate = openGate(options.signal)
  const { history } = options
  const trail = [...(options.trail ?? [])]
  const last = trail.at(-1)
  const isBegun = last?.role === 'assistant' && last.status === 'pending'
  const resumed = isBegun ? last : options.resumed
  if (isBegun) trail.pop()
  const onStanding = (message: Message) => putInTrail({ trail }, message)
  return {
    options,
    history: history.map((message, at) => (at === history.length - 1 ? accepted(message) : message)),
    specs: specsOf(options.tools),
    gate,
    // Who may not write any more has no use for the model and the tools either.
    writer: createWriter(options.log, gate.stop, onStanding),
    trail,
    readAt: options.env.now(),
    usages: trail.flatMap((message) => (message.role === 'assistant' ? [message.usage] : [])),
    resumed,
    room: undefined,
  }
}

/** What every new message of a run has; `before` is the one it follows. */
function pending({ options }: Run, id: string, before: string | null) {
  const now = options.env.now()
  return {
    id,
    sessionId: options.sessionId,
    parentId: before,
    status: 'pending',
    createdAt: now,
    updatedAt: now,
    v: SCHEMA_VERSION,
  } as const
}

const lastId = ({ trail, history }: Run): string | null => (trail.at(-1) ?? history.at(-1))?.id ?? null

/** The next answer, not yet begun. */
export function pendingAnswer(run: Run): AssistantMessage {
  const { assistantId, env, model, runId } = run.options
  const from = cutIn(run)
  const id = (run.trail.length === 0 && assistantId) || env.createId()
  const { provider, id: name } = model
  return {
    ...pending(run, id, lastId(run)),
    role: 'assistant',
    content: [],
    runId,
    provider,
    model: name,
    ...(from && { continues: from.id }),
  }
}

/** The answer to go on from, as long as it is the run's turn to do so. */
export const cutIn = ({ options, trail }: Run): AssistantMessage | undefined =>
  trail.length === 0 && options.continues && textOf(options.continues).trim() !== ''
    ? options.continues
    : undefined

/** A call, and the message that will hold its result. */
export interface PendingCall {
  call: ToolCallBlock
  /** Names the call among all there are: answer and place in it. */
  key: string
  message: ToolMessage
}

/** The calls of the last answer with their results to be, in their order. */
export function pendingResults(run: Run, calls: readonly ToolCallBlock[]): PendingCall[] {
  const from = run.trail.findLastIndex((message) => message.role === 'assistant')
  const answer = run.trail[from]
  let before = lastId(run)
  return calls.map((call) => {
    const { id: toolCallId, name: toolName } = call
    const index = answer?.role === 'assistant' ? answer.content.indexOf(call) : -1
    const key = `${answer?.id}_${index}`
    const known = run.trail.find(
      (message, at) => at > from && message.role === 'tool' && message.toolCallId === toolCallId,
    )
    if (known?.role === 'tool') return { call, key, message: known }
    const place = pending(run, run.options.env.createId(), before)
    before = place.id
    return {
      call,
      key,
      message: { ...place, role: 'tool', toolCallId, toolName, content: [], isError: false },
    }
  })
}

export const created = (message: Message): ChatEvent => ({ type: 'message.created', message })

/** The sum, where every call said what it cost. */
export function sumOf(usages: readonly (Usage | undefined)[]): Usage | undefined {
  const [first, ...others] = usages
  if (!first) return undefined
  const sum = { ...first }
  for (const usage of others) {
    if (!usage) return undefined
    sum.input += usage.input
    sum.output += usage.output
    sum.cacheRead += usage.cacheRead
    sum.cacheWrite += usage.cacheWrite
    sum.total += usage.total
    if (sum.reasoning !== undefined || usage.reasoning !== undefined)
      sum.reasoning = (sum.reasoning ?? 0) + (usage.reasoning ?? 0)
  }
  return sum
}
