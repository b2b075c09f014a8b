import type { AssistantDraft, CallOptions, ModelContext } from '../adapters/contract.ts'
import { type Account, type CallRecord, sentOf } from '../context/call-record.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { traceOf, traceparentAfter } from '../lib/trace.ts'
import type { AssistantMessage, Usage } from '../message/schema.ts'
import { callOptionsOf } from './output.ts'
import type { Run } from './run.ts'

/** A model call that is about to be made. */
export interface CallStart
  extends Pick<
    CallRecord,
    'id' | 'sessionId' | 'runId' | 'messageId' | 'attempt' | 'provider' | 'model' | 'startedAt' | 'sent'
  > {
  /** What the run is a step of, where somebody said so. */
  parent?: string
  /** What the request will say, unless the watch says otherwise. */
  traceparent: string
  /** What the model gets to see; absent where an answer is gone on with. */
  context?: ModelContext
  options?: CallOptions
}

/** Somebody who follows one model call to its end. */
export interface CallWatch {
  /** Said to the provider instead of the one that was made. */
  traceparent?: string
  /** Called once. `answer` is what the model said, where it came to that. */
  end?(record: CallRecord, answer: AssistantDraft | undefined): void
}

/** Hears of each model call of a run, before it is made. What it throws is ignored: whoever only watches cannot fail a call. */
export type WatchCalls = (start: CallStart) => CallWatch | undefined

/** How a call ended, as far as its record cares. */
interface End {
  reason: CallRecord['stopReason']
  error?: ErrorData
  message?: AssistantDraft
}

/** One call as the turn follows it. */
export interface Call {
  readonly traceparent: string
  /** Something came. */
  heard(): void
  end(final: End, usage: Usage | undefined): void
}

/** Begins a call: everybody who watches is told, and told again when it ends. */
export function beginCall(
  run: Run,
  { id: messageId }: AssistantMessage,
  context: (ModelContext & Account) | undefined,
  attempt: number,
): Call {
  const { env, model, sessionId, runId } = run.options
  const watch = [...(run.options.watch ?? []), run.options.context?.watch].filter((one) => one !== undefined)
  let traceparent = traceparentAfter(run.options.traceparent, env.random)
  if (watch.length === 0) return { traceparent, heard: () => undefined, end: () => undefined }
  const known = {
    ...{
      id: env.createId(),
      sessionId,
      runId,
      messageId,
      attempt,
      provider: model.provider,
      model: model.id,
    },
    startedAt: env.now(),
    ...(context && { sent: sentOf(context) }),
  }
  const start: CallStart = {
    ...(run.options.traceparent && { parent: run.options.traceparent }),
    ...known,
    traceparent,
    ...(context && { context }),
    ...optionsOf(run),
  }
  const watches = watch.flatMap((begin) => quietly(() => begin(start)) ?? [])
  for (const one of watches) if (traceOf(one.traceparent)) traceparent = one.traceparent ?? traceparent
  const { traceId = '', spanId = '' } = traceOf(traceparent) ?? {}
  const since = () => Math.max(0, env.now() - known.startedAt)
  let firstByte: number | undefined
  return {
    traceparent,
    heard() {
      firstByte ??= since()
    },
    end(final, usage) {
      const record = {
        ...{ ...known, traceId, spanId, ...endOf(final), duration: since() },
        ...(usage && { usage }),
        ...(firstByte !== undefined && { firstByte }),
      }
      for (const one of watches) quietly(() => one.end?.(record, final.message))
    },
  }
}

function optionsOf(run: Run): Pick<CallStart, 'options'> {
  const options = callOptionsOf(run)
  return options ? { options } : {}
}

const endOf = ({ reason, error, message }: End) => ({
  status:
    reason === 'error'
      ? ('failed' as const)
      : reason === 'aborted'
        ? ('interrupted' as const)
        : ('completed' as const),
  stopReason: reason,
  ...(message?.model && { answeredBy: message.model }),
  ...(error && { error }),
})

/** Also what somebody throws later, who does it in a promise: in a server, that would end the process. */
function quietly<T>(tell: () => T): T | undefined {
  try {
    const told = tell()
    if (told instanceof Promise) told.catch(() => undefined)
    return told
  } catch {
    return undefined
  }
}
