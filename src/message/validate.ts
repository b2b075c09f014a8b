import {
  type AssistantMessage,
  AssistantMessage as AssistantSchema,
  Message,
  type Role,
  type Status,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from './schema.ts'

/** What can be wrong with a message, or with its place among others. */
export type ValidationCode =
  /** A field is missing or has the wrong type, or the value is no message at all. */
  | 'shape'
  /** No such role. */
  | 'unknown-role'
  /** A content block that this role does not admit, or that does not exist. */
  | 'unknown-block'
  /** An id that is empty or does not match `[A-Za-z0-9_-]{1,64}`. */
  | 'invalid-id'
  /** A field that belongs to another role. */
  | 'foreign-field'
  /** A status that this role never has. */
  | 'impossible-status'
  /** An image or a file without `data`, `url` or `attachmentId`. */
  | 'empty-media'
  /** Two calls of one assistant message bear the same id. */
  | 'duplicate-call-id'
  /** Two messages bear the same id. */
  | 'duplicate-id'
  /** A tool message that does not follow the assistant message that made its call. */
  | 'orphan-result'
  /** A second result for the same call. */
  | 'duplicate-result'
  /** A call of a completed assistant message that nothing answers. */
  | 'dangling-call'
  /** Two user messages in a row. */
  | 'consecutive-users'
  /** Two assistant messages in a row. */
  | 'consecutive-assistants'

export interface ValidationError {
  code: ValidationCode
  /** Where: keys and indexes from the validated value inwards; a conversation's begins with the message's index. */
  path: readonly (string | number)[]
  /** For people. */
  message: string
}

export interface Validation {
  valid: boolean
  errors: ValidationError[]
}

type Path = ValidationError['path']

const FIELDS: Readonly<Record<Role, ReadonlySet<string>>> = {
  system: new Set(Object.keys(SystemMessage.shape)),
  user: new Set(Object.keys(UserMessage.shape)),
  assistant: new Set(Object.keys(AssistantSchema.shape)),
  tool: new Set(Object.keys(ToolMessage.shape)),
}
const KNOWN: ReadonlySet<string> = new Set(Object.values(FIELDS).flatMap((fields) => [...fields]))

const STATUSES: Readonly<Record<Role, readonly Status[]>> = {
  system: ['completed'],
  user: ['pending', 'completed', 'failed'],
  assistant: ['pending', 'streaming', 'completed', 'failed', 'interrupted'],
  tool: ['pending', 'completed', 'failed'],
}

const IDS: ReadonlySet<unknown> = new Set([
  'id',
  'sessionId',
  'parentId',
  'clientId',
  'runId',
  'attachmentId',
  'toolCallId',
])

type Issue = NonNullable<ReturnType<typeof Message.safeParse>['error']>['issues'][number]

function ofIssue({ code, path, message }: Issue): ValidationError {
  const keys = path.filter((key) => typeof key !== 'symbol')
  const last = keys.at(-1)
  const error = (code: ValidationCode, message: string): ValidationError => ({ code, path: keys, message })
  if (code === 'invalid_union' && last === 'role') return error('unknown-role', 'there is no such role')
  if (code === 'invalid_union' && last === 'type')
    return error('unknown-block', 'this role admits no such block')
  return error(code === 'custom' && IDS.has(last) ? 'invalid-id' : 'shape', message)
}

/** What the schema cannot say: fields of other roles are unknown to it, and so let through. */
function* inconsistencies(message: Message, value: object): Generator<ValidationError> {
  for (const [field, given] of Object.entries(value))
    if (given !== undefined && KNOWN.has(field) && !FIELDS[message.role].has(field))
      yield {
        code: 'foreign-field',
        path: [field],
        message: `a message of role ${message.role} has no ${field}`,
      }
  if (!STATUSES[message.role].includes(message.status))
    yield {
      code: 'impossible-status',
      path: ['status'],
      message: `a message of role ${message.role} is never ${message.status}`,
    }
  const calls = new Set<string>()
  for (const [index, block] of message.content.entries()) {
    if ((block.type === 'image' || block.type === 'file') && !(block.data || block.url || block.attachmentId))
      yield {
        code: 'empty-media',
        path: ['content', index],
        message: `the ${block.type} has neither data nor url nor attachmentId`,
      }
    if (block.type !== 'toolCall') continue
    if (calls.has(block.id))
      yield {
        code: 'duplicate-call-id',
        path: ['content', index, 'id'],
        message: `there is another call ${block.id}`,
      }
    calls.add(block.id)
  }
}

/** The message, where the value has its shape, and what is wrong with it. */
function parse(value: unknown): { message?: Message; errors: ValidationError[] } {
  const parsed = Message.safeParse(value)
  if (!parsed.success) return { errors: parsed.error.issues.map(ofIssue) }
  const errors = typeof value === 'object' && value ? [...inconsistencies(parsed.data, value)] : []
  return { message: parsed.data, errors }
}

/**
 * Checks one message: the schema, and that its fields, blocks and status belong to its role. Unknown fields are let
 * through. Never throws.
 */
export function validateMessage(value: unknown): Validation {
  const { errors } = parse(value)
  return { valid: errors.length === 0, errors }
}

/** What the walk along a branch remembers. */
interface Walk {
  ids: Set<string>
  /** Role of the last message that was not a system message. */
  before: Role | undefined
  /** Calls of the assistant message whose results may come now. */
  calls: Map<string, { path: Path; state: 'open' | 'answered' | 'optional' }>
}

const newWalk = (): Walk => ({ ids: new Set(), before: undefined, calls: new Map() })

/** Ends the time in which results may come. */
function* closeCalls(walk: Walk): Generator<ValidationError> {
  for (const [id, { path, state }] of walk.calls)
    if (state === 'open') yield { code: 'dangling-call', path, message: `nothing answers the call ${id}` }
  walk.calls = new Map()
}

/** Calls of a message that failed or was cut off were never made: nothing has to answer them. */
function openCalls(walk: Walk, message: AssistantMessage, index: number): void {
  const state = message.status === 'completed' ? 'open' : 'optional'
  for (const [place, block] of message.content.entries())
    if (block.type === 'toolCall' && !block.server)
      walk.calls.set(block.id, { path: [index, 'content', place], state })
}

function* answerCall(walk: Walk, message: ToolMessage, index: number): Generator<ValidationError> {
  const path = [index, 'toolCallId']
  const id = message.toolCallId
  const call = walk.calls.get(id)
  if (!call)
    yield { code: 'orphan-result', path, message: `the assistant message before makes no call ${id}` }
  else if (call.state === 'answered')
    yield { code: 'duplicate-result', path, message: `the call ${id} has a result already` }
  else call.state = 'answered'
}

function* step(walk: Walk, message: Message, index: number): Generator<ValidationError> {
  if (walk.ids.has(message.id))
    yield { code: 'duplicate-id', path: [index, 'id'], message: `there is another message ${message.id}` }
  walk.ids.add(message.id)
  // A user message that was not accepted yet, or was refused, is not part of the conversation.
  if (message.role === 'user' && message.status !== 'completed') return
  if (message.role === 'tool') yield* answerCall(walk, message, index)
  else yield* closeCalls(walk)
  if (message.role === 'system') return
  if (message.role === walk.before && message.role === 'user')
    yield { code: 'consecutive-users', path: [index], message: 'the message before is a user message, too' }
  if (message.role === walk.before && message.role === 'assistant')
    yield {
      code: 'consecutive-assistants',
      path: [index],
      message: 'the message before is an assistant message, too',
    }
  if (message.role === 'assistant') openCalls(walk, message, index)
  walk.before = message.role
}

/**
 * Checks a branch, oldest message first: each message as `validateMessage` does, unique ids, turns that alternate, and
 * every call answered exactly once, right after the message that made it, or reported as `dangling-call`. User messages
 * that are not accepted yet, or were refused, are checked by themselves only. Never throws; takes time in proportion to
 * the length.
 */
export function validateConversation(messages: readonly unknown[]): Validation {
  const errors: ValidationError[] = []
  const walk = newWalk()
  for (const [index, value] of messages.entries()) {
    const { message, errors: own } = parse(value)
    for (const error of own) errors.push({ ...error, path: [index, ...error.path] })
    // What cannot be read may have been anything: nobody is its neighbour of the same role.
    if (!message) walk.before = undefined
    else for (const error of step(walk, message, index)) errors.push(error)
  }
  for (const error of closeCalls(walk)) errors.push(error)
  return { valid: errors.length === 0, errors }
}
