export { ErrorCode, ErrorData } from './lib/error-data.ts'

// That stands first, so that zod does, too: a bundle compresses better where it is not in the midst of what is ours.

export type { Adapter } from './adapters/adapter.ts'
export { capabilitiesOf } from './adapters/capabilities.ts'
export { collect } from './adapters/collect.ts'
export type {
  AssistantDraft,
  CallOptions,
  Capabilities,
  Effort,
  EncodedRequest,
  Model,
  ModelContext,
  ModelEvent,
  OutputFormat,
  RawResponse,
  StreamOptions,
  ToolSpec,
} from './adapters/contract.ts'
export type { EventStream } from './adapters/event-stream.ts'
export { eventStream } from './adapters/event-stream.ts'
export { hear } from './adapters/hear.ts'
export type { Repair } from './adapters/repair.ts'
export { repairCalls } from './adapters/repair.ts'
export { say } from './adapters/say.ts'
export { createChat } from './chat/create.ts'
export type { Channel, Platform } from './chat/platform.ts'
export type {
  Change,
  ChatStorage,
  CommitOptions,
  Guard,
  JournalEntry,
  MessageWindow,
  OutboxRequest,
  OutboxRow,
  StoredMessage,
  StoredRecord,
  StoredSession,
} from './chat/ports.ts'
export type {
  Accepted,
  DispatchContext,
  EventBatch,
  PageQuery,
  Runtime,
  RuntimeHost,
} from './chat/runtime-port.ts'
export type {
  Chat,
  ChatOptions,
  ChatSession,
  Connection,
  Health,
  MessageStore,
  OutputOptions,
  SendOptions,
  Sent,
  SessionSnapshot,
  UserInput,
} from './chat/types.ts'
export type {
  AssembledContext,
  IncludedMessage,
  IncludeReason,
} from './context/assemble.ts'
export { assembleContext } from './context/assemble.ts'
export type { Calibration, CountedRequest, TextClass } from './context/calibration.ts'
export { learn, uncalibrated } from './context/calibration.ts'
export { CallRecord, SentContext } from './context/call-record.ts'
export type { ClipOptions } from './context/clip.ts'
export { clipBlocks, clipText } from './context/clip.ts'
export type { CompactOptions } from './context/compact.ts'
export { compactResults, conclusionOf, squeezeNewest } from './context/compact.ts'
export type {
  Draft,
  DraftItem,
  DraftTurn,
  DroppedMessage,
  ItemChange,
  Note,
  NoteKind,
  Policy,
  Space,
} from './context/draft.ts'
export type {
  Bounds,
  CalibrationReport,
  Estimator,
  EstimatorOptions,
  Surprise,
  TextState,
} from './context/estimate.ts'
export { createEstimator } from './context/estimate.ts'
export type { Family } from './context/families.ts'
export { familyOf } from './context/families.ts'
export type { GrowthPoint } from './context/growth.ts'
export { growthOf } from './context/growth.ts'
export { keptEstimates } from './context/kept-estimates.ts'
export { createLargeEstimator } from './context/large-estimate.ts'
export { mediaTokens } from './context/media.ts'
export type { MixOptions, Strategy } from './context/mix.ts'
export { recommendedMix } from './context/mix.ts'
export type { NationalId } from './context/national-ids.ts'
export { nationalIds } from './context/national-ids.ts'
export type { FinishedTask, GoalOptions, PinOptions } from './context/notes.ts'
export { edgesFirst, finishedTasks, goalNote, nearQuestion, pins, recalled } from './context/notes.ts'
export type { AssembleOptions, ContextTool } from './context/open-draft.ts'
export type { Overheads } from './context/overheads.ts'
export { overheadsOf } from './context/overheads.ts'
export { dropOldest, dropOldestTurns, slidingWindow, tokenBudget } from './context/policies.ts'
export type { Provenance, Recall, Recalled, RecallQuery } from './context/recalled.ts'
export type { Redaction, RedactionOptions } from './context/redact.ts'
export { createRedaction } from './context/redact.ts'
export type { Finder, Span } from './context/secrets.ts'
export { cards, emails, finder, keys, phones } from './context/secrets.ts'
export type { DropReason } from './context/sendable.ts'
export type { SessionRecord, SessionRecords } from './context/session-records.ts'
export type { SummaryThresholds } from './context/summary.ts'
export { Summary, summarised } from './context/summary.ts'
export type { CountableRequest, Counts } from './context/tally.ts'
export { createTextCounter } from './context/text-counter.ts'
export type { TokenTables } from './context/token-code.ts'
export { smallTables } from './context/token-tables.ts'
export { largeTables } from './context/token-tables-large.ts'
export type { ContextView } from './context/view.ts'
export type { Store } from './lib/cell.ts'
export type { Env } from './lib/env.ts'
export { TidemarkError } from './lib/errors.ts'
export type { JsonSchema } from './lib/json-schema.ts'
export type { JsonReader } from './lib/partial-json.ts'
export { createJsonReader } from './lib/partial-json.ts'
export type { OutputOf, Schema, StandardSchema } from './lib/standard-schema.ts'
export { factsBy } from './memory/extract.ts'
export type { FactFilter, NewFact } from './memory/fact.ts'
export { Fact } from './memory/fact.ts'
export type { LocalStoreOptions } from './memory/local-store.ts'
export { localStore } from './memory/local-store.ts'
export { createMemory } from './memory/memory.ts'
export type { Embed, Found, Known, MemoryStore, NearestQuery, TextSearch } from './memory/ports.ts'
export type { Extract, Memory, MemoryOptions, SearchOptions } from './memory/types.ts'
export type { LiveOutput, Unfinished } from './message/output.ts'
export { liveOutput, readOutput } from './message/output.ts'
export { OutputShape } from './message/output-shape.ts'
export type { Block, Role } from './message/schema.ts'
export {
  AssistantBlock,
  AssistantMessage,
  FileBlock,
  ImageBlock,
  isSettled,
  keyOf,
  Message,
  OtherBlock,
  SCHEMA_VERSION,
  Session,
  SourceBlock,
  Status,
  StopReason,
  SystemMessage,
  TextBlock,
  ThinkingBlock,
  ToolBlock,
  ToolCallBlock,
  ToolMessage,
  Usage,
  UserBlock,
  UserMessage,
} from './message/schema.ts'
export type { StatusEvent, StatusTable } from './message/status.ts'
export { can, next, STATUS } from './message/status.ts'
export { textOf } from './message/text.ts'
export type { Validation, ValidationCode, ValidationError } from './message/validate.ts'
export { validateConversation, validateMessage } from './message/validate.ts'
export type { Envelope, MessagePage } from './protocol/events.ts'
export { ChatEvent } from './protocol/events.ts'
export { reduce } from './protocol/reduce.ts'
export type { Missing, Piece, SessionState, Trace } from './protocol/state.ts'
export { emptyState } from './protocol/state.ts'
export type { DirectOptions } from './runtime/direct.ts'
export { direct } from './runtime/direct.ts'
export type { RemoteOptions } from './runtime/remote.ts'
export { remote } from './runtime/remote.ts'
export { memoryStorage } from './storage/memory.ts'
export type { TeachOptions } from './telemetry/calibration.ts'
export { taught, teach } from './telemetry/calibration.ts'
export type { CallLine } from './telemetry/logger.ts'
export { logger } from './telemetry/logger.ts'
export type { DefaultContext, DefaultContextOptions } from './turn/default-context.ts'
export { defaultContext } from './turn/default-context.ts'
export type { Misfit, Structured } from './turn/output.ts'
export type { ToolResult } from './turn/result.ts'
export type { ContextInput } from './turn/run-turn.ts'
export type { SessionToolOptions, SubSession } from './turn/session-tool.ts'
export { sessionTool, subSessionOf } from './turn/session-tool.ts'
export { structured } from './turn/structured.ts'
export type { Summarise, SummaryOptions, SummaryReport } from './turn/summaries.ts'
export type { SummariseWithOptions } from './turn/summarise-with.ts'
export { summariseWith } from './turn/summarise-with.ts'
export type { Checked, Tool, ToolContext, ToolOptions } from './turn/tool.ts'
export { tool } from './turn/tool.ts'
export type { CallStart, CallWatch, WatchCalls } from './turn/watch.ts'
