import * as z from 'zod/mini'
import { must } from '../lib/must.ts'
import { OutputShape } from '../message/output-shape.ts'
import { Id, Metadata, UserBlock } from '../message/schema.ts'

const Title = z.string().check(must((title) => [...title].length <= 500, 'expected at most 500 characters'))
const Content = z.array(UserBlock).check(must((blocks) => blocks.length > 0, 'expected at least one block'))

/** Body of `POST /sessions`. */
export const CreateSession = z.object({
  id: z.optional(Id),
  title: z.optional(Title),
  metadata: z.optional(Metadata),
})
export type CreateSession = z.infer<typeof CreateSession>

/** Body of `PATCH /sessions/:id`. */
export const PatchSession = z.object({
  title: z.optional(Title),
  metadata: z.optional(Metadata),
  headId: z.optional(z.nullable(Id)),
})
export type PatchSession = z.infer<typeof PatchSession>

/**
 * What a send during a run does: it waits until that has ended; steers, so that the model reads it the next time it is called
 * (the run in flight ends there, behind the results of its calls); interrupts that run; or is refused. What has been waiting
 * longer still goes first.
 */
export const WhenBusy = z.enum(['queue', 'steer', 'interrupt', 'refuse'])
export type WhenBusy = z.infer<typeof WhenBusy>

/** Body of `POST /sessions/:id/messages`. The client names the message and the run, so that a lost answer teaches nothing new. */
export const SendMessage = z.object({
  id: Id,
  runId: Id,
  parentId: z.nullable(Id),
  content: Content,
  name: z.optional(z.string()),
  metadata: z.optional(Metadata),
  /** What the answer has to be; kept with the message. */
  output: z.optional(OutputShape),
  /** @default 'queue' */
  whenBusy: z.optional(WhenBusy),
})
export type SendMessage = z.infer<typeof SendMessage>

const command = { id: Id }
/** End a run; unknown runs leave a tombstone under which a later send starts nothing. */
export const CancelCommand = z.object({ ...command, type: z.enum(['cancel']), runId: Id })
/** Answer the user message before `messageId` (an assistant message, or that user message itself) once more, as a sibling. */
export const RegenerateCommand = z.object({
  ...command,
  type: z.enum(['regenerate']),
  messageId: Id,
  runId: Id,
})
/** Go on from the text of `messageId`, an answer that was cut off, in a new one beside it. */
export const ContinueCommand = z.object({ ...command, type: z.enum(['continue']), messageId: Id, runId: Id })
/** A new user message `newId` beside `messageId`, answered by a new run. */
export const EditCommand = z.object({
  ...command,
  type: z.enum(['edit']),
  messageId: Id,
  newId: Id,
  runId: Id,
  content: Content,
})
/** Show the branch that ends in, or goes through, `messageId`. */
export const SelectBranchCommand = z.object({ ...command, type: z.enum(['selectBranch']), messageId: Id })

/** Allow the call that the tool message `messageId` is to answer, with other arguments where they are given. */
export const ApproveCommand = z.object({
  ...command,
  type: z.enum(['approve']),
  messageId: Id,
  arguments: z.optional(z.unknown()),
})
/** Do not allow it: the model is told so, and why. */
export const RejectCommand = z.object({
  ...command,
  type: z.enum(['reject']),
  messageId: Id,
  reason: z.optional(z.string()),
})
/** Whoever is to execute the call elsewhere may not, before somebody allows it: within so many milliseconds, where they say so. */
export const AskApprovalCommand = z.object({
  ...command,
  type: z.enum(['askApproval']),
  messageId: Id,
  timeout: z.optional(z.number()),
})
/** The result of a call that was executed elsewhere; with `error`, what went wrong with it. */
export const ToolResultCommand = z.object({
  ...command,
  type: z.enum(['toolResult']),
  messageId: Id,
  data: z.optional(z.unknown()),
  error: z.optional(z.string()),
})

/** Body of `POST /sessions/:id/commands`, idempotent by `id`. */
export const Command = z.discriminatedUnion('type', [
  CancelCommand,
  RegenerateCommand,
  ContinueCommand,
  EditCommand,
  SelectBranchCommand,
  ApproveCommand,
  RejectCommand,
  AskApprovalCommand,
  ToolResultCommand,
])
export type Command = z.infer<typeof Command>

/** What somebody says about a call that waits. Of several, the first counts. */
export type CallCommand = Extract<Command, { type: 'approve' | 'reject' | 'askApproval' | 'toolResult' }>

/** The same before it is said: without its id and its message's. */
export type CallWord = { type: CallCommand['type']; [field: string]: unknown }
