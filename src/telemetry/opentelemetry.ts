import {
  context,
  type Meter,
  metrics,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { CallRecord } from '../context/call-record.ts'
import { traceOf } from '../lib/trace.ts'
import type { CallStart, WatchCalls } from '../turn/watch.ts'
import {
  BUCKETS,
  commonOf,
  contentIn,
  contentOut,
  errorOf,
  inputOf,
  requestOf,
  responseOf,
} from './conventions.ts'

export interface OpenTelemetryOptions {
  /** @default the global provider's, by the name `tidemark` */
  tracer?: Tracer
  /** @default the global provider's, by the name `tidemark` */
  meter?: Meter
  /** Whether spans hold what was said: instructions, messages, calls and results. Mind whom they are sent to. @default false */
  content?: boolean
}

/** Hexadecimal flags of a `traceparent`, its last field. */
const flagsOf = (traceparent: string): number => Number.parseInt(traceparent.split('-')[3] ?? '', 16)

/** What the span of a call stands under: the app's own span that is active, or else what the run is a step of. */
function parentOf({ parent }: CallStart) {
  const active = context.active()
  const ids = traceOf(parent)
  if (trace.getSpan(active) || !parent || !ids) return active
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags: flagsOf(parent), isRemote: true })
}

/** The request's own step: what the provider is told is the span itself. */
function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function instruments(meter: Meter) {
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: BUCKETS.seconds } }
  const usage = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Number of input and output tokens used.',
    unit: '{token}',
    advice: { explicitBucketBoundaries: BUCKETS.tokens },
  })
  const duration = meter.createHistogram('gen_ai.client.operation.duration', {
    description: 'GenAI operation duration.',
    ...seconds,
  })
  const firstChunk = meter.createHistogram('gen_ai.client.operation.time_to_first_chunk', {
    description: 'Time to receive the first chunk.',
    ...seconds,
  })
  return (record: CallRecord): void => {
    const common = commonOf(record)
    const known = { ...common, ...(record.answeredBy && { 'gen_ai.response.model': record.answeredBy }) }
    duration.record(record.duration / 1_000, { ...known, ...errorOf(record) })
    if (record.firstByte !== undefined) firstChunk.record(record.firstByte / 1_000, known)
    if (!record.usage) return
    usage.record(inputOf(record.usage), { ...known, 'gen_ai.token.type': 'input' })
    usage.record(record.usage.output, { ...known, 'gen_ai.token.type': 'output' })
  }
}

/**
 * Spans and metrics of each model call, in OpenTelemetry's conventions for generative AI (1.41): a `chat <model>` span under
 * the app's own, or under the trace that the request came with; its `traceparent` goes on to the provider. Without
 * `content`, nothing of what was said is in them.
 * @example
 * createChatHandler({ store, model, watch: [openTelemetry()] })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): WatchCalls {
  const {
    tracer = trace.getTracer('tidemark'),
    meter = metrics.getMeter('tidemark'),
    content = false,
  } = options
  const measure = instruments(meter)
  return (start) => {
    const attributes = {
      ...requestOf(start),
      ...(content && start.context && contentIn(start.context)),
    }
    const span = tracer.startSpan(
      `chat ${start.model}`,
      { kind: SpanKind.CLIENT, startTime: start.startedAt, attributes },
      parentOf(start),
    )
    return {
      traceparent: traceparentOf(span),
      end(record, answer) {
        span.setAttributes({
          ...responseOf(record, answer?.responseId),
          ...(content && answer && contentOut(answer, record)),
        })
        // What somebody stopped is no error.
        if (record.status === 'failed')
          span.setStatus({ code: SpanStatusCode.ERROR, message: record.error?.code ?? '' })
        span.end(record.startedAt + record.duration)
        measure(record)
      },
    }
  }
}
