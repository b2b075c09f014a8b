import * as z from 'zod/mini'
import { ErrorData } from '../lib/error-data.ts'
import { must } from '../lib/must.ts'
import { CallStage } from './call-stage.ts'
import { OutputShape } from './output-shape.ts'

/** The version of the message schema that this code writes. */
export const SCHEMA_VERSION = 1

/** Whether a text can be an id of ours. */
export const isId = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text)

/** What an id has to be, in words. */
export const ID_EXPECTED = 'expected 1 to 64 letters, digits, hyphens or underscores'

/** Ids of sessions, messages, runs and commands. Unique per account. */
export const Id = z.string().check(must(isId, ID_EXPECTED))
export type Id = z.infer<typeof Id>

export const Status = z.enum(['pending', 'streaming', 'completed', 'failed', 'interrupted'])
export type Status = z.infer<typeof Status>

/** Why the model stopped. */
export const StopReason = z.enum(['stop', 'length', 'toolUse', 'error', 'aborted'])
export type StopReason = z.infer<typeof StopReason>

/** Tokens as the provider counted them: `input` excludes what came from or went to a cache, `output` includes reasoning. */
export const Usage = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  /** input + output + cacheRead + cacheWrite. */
  total: z.number(),
  /** The part of `output` spent on thinking, where the provider tells. */
  reasoning: z.optional(z.number()),
})
export type Usage = z.infer<typeof Usage>

/**
 * Opaque proof a provider attached to a block (thinking, thought signatures), or what else its block says that has no field of
 * ours (citations with their proofs); replayed only to the provider that wrote it.
 */
const signature = z.optional(z.string())

// `z.enum` of one value, since `z.literal` would be a hundred bytes more of zod.
export const TextBlock = z.object({
  type: z.enum(['text']),
  text: z.string(),
  signature,
  /** The model's own words for declining, as the provider marks them. */
  refusal: z.optional(z.boolean()),
})
export type TextBlock = z.infer<typeof TextBlock>

export const ThinkingBlock = z.object({
  type: z.enum(['thinking']),
  text: z.string(),
  signature,
  /** The provider hid the text; only the signature is there. */
  redacted: z.optional(z.boolean()),
})
export type ThinkingBlock = z.infer<typeof ThinkingBlock>

/** As the provider gave it. */
const CallId = z.string().check(must((id) => id !== '', 'expected an id'))

/**
 * A call the model wants made. `arguments` is set only from complete, valid JSON; without it the call is not executable
 * and `rawArguments` holds what the model wrote.
 */
export const ToolCallBlock = z.object({
  type: z.enum(['toolCall']),
  id: CallId,
  name: z.string(),
  arguments: z.optional(z.unknown()),
  rawArguments: z.optional(z.string()),
  /** What the model wrote was no JSON: `arguments` is what a repair made of it. */
  repaired: z.optional(z.boolean()),
  /** Executed by the provider's own server; never by us. */
  server: z.optional(z.boolean()),
  signature,
})
export type ToolCallBlock = z.infer<typeof ToolCallBlock>

const media = {
  mimeType: z.string(),
  /** Base64, without a `data:` prefix. */
  data: z.optional(z.string()),
  url: z.optional(z.string()),
  attachmentId: z.optional(Id),
  name: z.optional(z.string()),
}
export const ImageBlock = z.object({ type: z.enum(['image']), ...media, signature })
export type ImageBlock = z.infer<typeof ImageBlock>

export const FileBlock = z.object({ type: z.enum(['file']), ...media })
export type FileBlock = z.infer<typeof FileBlock>

/** A citation. */
export const SourceBlock = z.object({
  type: z.enum(['source']),
  url: z.string(),
  title: z.optional(z.string()),
})
export type SourceBlock = z.infer<typeof SourceBlock>

/** A block that this version does not know: kept, replayed to its own provider, never dropped. */
export const OtherBlock = z.object({ type: z.enum(['other']), provider: z.string(), raw: z.unknown() })
export type OtherBlock = z.infer<typeof OtherBlock>

export const UserBlock = z.discriminatedUnion('type', [TextBlock, ImageBlock, FileBlock])
export type UserBlock = z.infer<typeof UserBlock>

export const AssistantBlock = z.discriminatedUnion('type', [
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ImageBlock,
  SourceBlock,
  OtherBlock,
])
export type AssistantBlock = z.infer<typeof AssistantBlock>

export const ToolBlock = z.discriminatedUnion('type', [TextBlock, ImageBlock])
export type ToolBlock = z.infer<typeof ToolBlock>

export type Block = UserBlock | AssistantBlock | ToolBlock

/** Whatever an app keeps beside a message or a session: plain JSON. */
export const Metadata = z.looseObject({})

const common = {
  id: Id,
  sessionId: Id,
  /** The message before this one on its branch; null for the first. */
  parentId: z.nullable(Id),
  /** The id the client gave the message, where the server chose another. `keyOf` uses it. */
  clientId: z.optional(Id),
  /** Place in the session over all branches, given at creation by whoever owns the truth; absent until then. */
  seq: z.optional(z.number()),
  /** Rises with each change; the higher one wins. */
  rev: z.optional(z.number()),
  status: Status,
  /** Milliseconds since the epoch, for display only. */
  createdAt: z.number(),
  updatedAt: z.number(),
  tokenCount: z.optional(z.number()),
  error: z.optional(ErrorData),
  metadata: z.optional(Metadata),
  v: z.number(),
}

export const SystemMessage = z.object({ role: z.enum(['system']), ...common, content: z.array(TextBlock) })
export type SystemMessage = z.infer<typeof SystemMessage>

export const UserMessage = z.object({
  role: z.enum(['user']),
  ...common,
  content: z.array(UserBlock),
  name: z.optional(z.string()),
  /** What the answer has to be. */
  output: z.optional(OutputShape),
})
export type UserMessage = z.infer<typeof UserMessage>

export const AssistantMessage = z.object({
  role: z.enum(['assistant']),
  ...common,
  content: z.array(AssistantBlock),
  /** Absent for presets: few-shot examples, a greeting. */
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  runId: z.optional(Id),
  responseId: z.optional(z.string()),
  /** The answer that was cut off and whose text this one begins with, as a block of its own. */
  continues: z.optional(Id),
  usage: z.optional(Usage),
  /** What the provider counted, as it said it, where its numbers contradict each other: then there is no `usage`. */
  usageRaw: z.optional(z.unknown()),
  stopReason: z.optional(StopReason),
  /** How often it was gone on with before anything was said, its process having gone. Absent once it has an end. */
  attempts: z.optional(z.number()),
})
export type AssistantMessage = z.infer<typeof AssistantMessage>

export const ToolMessage = z.object({
  role: z.enum(['tool']),
  ...common,
  toolCallId: CallId,
  toolName: z.string(),
  content: z.array(ToolBlock),
  /** What the model does not see: the uncut result, for the interface. */
  details: z.optional(z.unknown()),
  isError: z.boolean(),
  /** Absent once there is a result. */
  stage: z.optional(CallStage),
  /** Somebody allowed it. Absent once there is a result. */
  approved: z.optional(z.boolean()),
  /** Until when the call waits, in milliseconds since the epoch; absent where it waits for ever, or for nobody. */
  expiresAt: z.optional(z.number()),
  /** How often it was begun. */
  attempts: z.optional(z.number()),
  /** What it is executed with, where whoever allowed it changed the arguments. */
  arguments: z.optional(z.unknown()),
})
export type ToolMessage = z.infer<typeof ToolMessage>

/** The canonical, provider-independent record; plain JSON; the only thing stored as truth. */
export const Message = z.discriminatedUnion('role', [
  SystemMessage,
  UserMessage,
  AssistantMessage,
  ToolMessage,
])
export type Message = z.infer<typeof Message>
export type Role = Message['role']

/** A container of messages: one conversation. */
export const Session = z.object({
  id: Id,
  title: z.optional(z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  metadata: Metadata,
  /** The last message of the selected branch. */
  headId: z.nullable(Id),
  seq: z.optional(z.number()),
  rev: z.optional(z.number()),
  v: z.number(),
})
export type Session = z.infer<typeof Session>

/** The name under which a list should key a message: stable when the server gives it another id. */
export const keyOf = (message: Message): string => message.clientId ?? message.id

/** Whether nothing more will happen to a message by itself. */
export const isSettled = (message: { status: Status }): boolean =>
  message.status !== 'pending' && message.status !== 'streaming'

/** Whether an answer ended before its model had finished. */
export const isCutOff = (message: Message): message is AssistantMessage =>
  message.role === 'assistant' &&
  (message.status === 'interrupted' || message.status === 'failed' || message.stopReason === 'length')
