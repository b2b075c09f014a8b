/**
 * Spans and metrics of model calls for OpenTelemetry. Needs `@opentelemetry/api`.
 * @module tidemark/opentelemetry
 */
export type { OpenTelemetryOptions } from './telemetry/opentelemetry.ts'
export { openTelemetry } from './telemetry/opentelemetry.ts'
