import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  AggregationTemporality,
  type HistogramMetricData,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterEach, expect, test, vi } from 'vitest'
import type { StreamOptions } from '../../src/adapters/contract.ts'
import type { CallRecord } from '../../src/context/call-record.ts'
import { type OpenTelemetryOptions, openTelemetry } from '../../src/telemetry/opentelemetry.ts'
import { type Script, scriptedModel } from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'
import { play, tool } from '../turn/stage.ts'

const usage = { input: 10, output: 3, cacheRead: 5, cacheWrite: 1, total: 19, reasoning: 2 }
const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

afterEach(() => vi.restoreAllMocks())

/** Plays a run under the SDK's own exporters, and gives back what they were given. */
async function exported(steps: Script, options: OpenTelemetryOptions & { traceparent?: string } = {}) {
  const { traceparent, ...given } = options
  const spans = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const metricsOut = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metricsOut, exportIntervalMillis: 1e9 })
  const meters = new MeterProvider({ readers: [reader] })
  const asked: (StreamOptions | undefined)[] = []
  const records: CallRecord[] = []
  const model = scriptedModel(steps)
  await play({
    model: {
      ...model,
      stream: (input, how) => {
        asked.push(how)
        return model.stream(input, how)
      },
    },
    system: 'Be secret.',
    history: [userMessage('u1', 'my secret')],
    tools: [tool('clock', () => 'noon')],
    call: { temperature: 0.5, maxOutputTokens: 100 },
    watch: [
      openTelemetry({ tracer: tracers.getTracer('test'), meter: meters.getMeter('test'), ...given }),
      () => ({ end: (record) => records.push(record) }),
    ],
    ...(traceparent && { traceparent }),
  })
  await meters.forceFlush()
  const metrics = metricsOut
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((it) => it.metrics))
  await meters.shutdown()
  return { spans: spans.getFinishedSpans(), metrics: metrics as HistogramMetricData[], asked, records }
}

test('a call is a span in the words of the conventions, and what the provider is told is that span', async () => {
  const { spans, asked, records } = await exported([['my secret', { usage }]], { traceparent: parent })
  const [span] = spans
  expect(spans).toHaveLength(1)
  expect(span).toMatchObject({
    name: 'chat script',
    kind: SpanKind.CLIENT,
    status: { code: SpanStatusCode.UNSET },
  })
  expect(span?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'script',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.max_tokens': 100,
    'gen_ai.conversation.id': 's1',
    'gen_ai.response.model': 'script',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 16,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 5,
  })
  expect(span?.parentSpanContext).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
  })
  const { traceId, spanId } = span?.spanContext() ?? {}
  expect(asked).toMatchObject([{ traceparent: `00-${traceId}-${spanId}-01` }])
  expect(records).toMatchObject([{ traceId, spanId }])
})

test('nothing of what was said is in a span, unless somebody wants it there', async () => {
  const steps: Script = [
    [{ toolCall: { id: 'c1', name: 'clock', arguments: { in: 'secret' } } }],
    'a secret noon',
  ]
  const without = await exported(steps)
  expect(JSON.stringify(without.spans.map(({ attributes }) => attributes))).not.toContain('secret')
  const { spans } = await exported(steps, { content: true })
  const said = (at: number, name: string): unknown =>
    JSON.parse(String(spans[at]?.attributes[`gen_ai.${name}`]))
  expect(said(0, 'system_instructions')).toEqual([{ type: 'text', content: 'Be secret.' }])
  expect(said(0, 'output.messages')).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'c1', name: 'clock', arguments: { in: 'secret' } }],
      finish_reason: 'tool_call',
    },
  ])
  expect(said(1, 'input.messages')).toMatchObject([
    { role: 'user', parts: [{ type: 'text', content: 'my secret' }] },
    { role: 'assistant', parts: [{ type: 'tool_call' }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1' }] },
  ])
})

test('stands under the span that is active in the app', async () => {
  const app = new BasicTracerProvider().getTracer('app').startSpan('app')
  vi.spyOn(context, 'active').mockReturnValue(trace.setSpan(ROOT_CONTEXT, app))
  const { spans } = await exported(['x'], { traceparent: parent })
  expect(spans[0]?.parentSpanContext?.spanId).toBe(app.spanContext().spanId)
})

test('an attempt that failed is a span with its code', async () => {
  const { spans } = await exported([[{ error: 'rate-limit' }], 'x'])
  expect(spans.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
  expect(spans[0]?.attributes).toMatchObject({ 'error.type': 'rate-limit' })
  expect(spans[1]?.attributes).toMatchObject({ 'tidemark.call.attempt': 1 })
})

test('tokens and times are histograms, with the attributes that the conventions ask for', async () => {
  const { metrics } = await exported([['x', { usage }]])
  const points = (name: string) => {
    const found = metrics.find(({ descriptor }) => descriptor.name === name)
    return found?.dataPoints.map(({ attributes, value }) => ({
      unit: found.descriptor.unit,
      sum: value.sum,
      ...attributes,
    }))
  }
  const common = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'scripted' }
  expect(points('gen_ai.client.token.usage')).toMatchObject([
    { unit: '{token}', sum: 16, 'gen_ai.token.type': 'input', ...common },
    { unit: '{token}', sum: 3, 'gen_ai.token.type': 'output', ...common },
  ])
  expect(points('gen_ai.client.operation.duration')).toMatchObject([{ unit: 's', ...common }])
  expect(points('gen_ai.client.operation.time_to_first_chunk')).toMatchObject([{ unit: 's' }])
})

test('without an SDK it does nothing, and takes nothing away', async () => {
  const records: CallRecord[] = []
  const watch = [openTelemetry(), () => ({ end: (record: CallRecord) => records.push(record) })]
  const { outcome } = await play({ model: scriptedModel(['x']), watch, traceparent: parent })
  expect(outcome).toBe('completed')
  expect(records).toMatchObject([{ traceId: '0af7651916cd43dd8448eb211c80319c' }])
})
