import { TidemarkError } from '../lib/errors.ts'
import { jsonSchemaOf } from '../lib/standard-schema.ts'
import { besides } from '../message/besides.ts'
import type { CallStage } from '../message/call-stage.ts'
import { OutputShape } from '../message/output-shape.ts'
import {
  ID_EXPECTED,
  isCutOff,
  isId,
  type Message,
  Metadata,
  SCHEMA_VERSION,
  type Session,
  UserBlock,
  type UserMessage,
} from '../message/schema.ts'
import { leafOf } from '../message/tree.ts'
import { type CallWord, Command, CreateSession } from '../protocol/commands.ts'
import { idIn, messageOf, messagesOf, type SessionState } from '../protocol/state.ts'
import { waitingIn } from './calls.ts'
import { headFor } from './local.ts'
import type { OutboxRequest } from './ports.ts'
import type { OutputOptions, SendOptions, UserInput } from './types.ts'

/** What somebody wants, as rows: a message to show now, and the requests that will say it. */
export interface Intent {
  session?: Session
  message?: UserMessage
  headId?: string | null
  requests: { id: string; request: OutboxRequest }[]
}

/** Ids and time for one intent; they come in from outside. */
export interface Given {
  createId(): string
  now: number
}

const invalid = (message: string) => new TidemarkError('invalid-request', message)

/** The blocks of an input. Throws `invalid-request` where it is empty or not content. */
export function blocksOf(input: UserInput): UserBlock[] {
  const given: readonly unknown[] = typeof input === 'string' ? [{ type: 'text', text: input }] : input
  if (!Array.isArray(given)) throw invalid('input: expected text, or an array of blocks')
  const blocks = given.map((block, index) => {
    const parsed = UserBlock.safeParse(block)
    if (!parsed.success) throw invalid(`input[${index}]: expected a text, image or file block`)
    return parsed.data
  })
  const says = blocks.some((block) => block.type !== 'text' || block.text.trim() !== '')
  if (!says) throw invalid('input: expected text or at least one block, got nothing')
  return blocks
}

/** A copy that can be stored and sent. Throws `invalid-request` where it cannot be. */
function asJson<T>(given: object, kind: { parse(value: unknown): T }, expected: string): T {
  try {
    return kind.parse(JSON.parse(JSON.stringify(given)))
  } catch {
    throw invalid(expected)
  }
}

/** What an answer has to be, as it is kept. Throws `invalid-request` where no model could be told it. */
function shapeOf(output: NonNullable<SendOptions['output']>): OutputShape {
  // No schema has a keyword of that name.
  const isPlain = !(output instanceof Object) || '~standard' in output || !('schema' in output)
  const { schema, jsonSchema, ...more } = isPlain ? { schema: output } : (output as OutputOptions)
  const shape = { ...more, schema: schema instanceof Object && jsonSchemaOf(jsonSchema ?? schema) }
  return asJson(
    shape,
    OutputShape,
    'output: expected JSON Schema, or a schema that can say it; else jsonSchema',
  )
}

const userMessage = (
  { sessionId }: SessionState,
  fields: Pick<UserMessage, 'id' | 'parentId' | 'content'> & Partial<UserMessage>,
  now: number,
): UserMessage => ({
  role: 'user',
  sessionId,
  status: 'pending',
  createdAt: now,
  updatedAt: now,
  v: SCHEMA_VERSION,
  ...fields,
})

export const newSession = (id: string, now: number): Session => ({
  id,
  createdAt: now,
  updatedAt: now,
  metadata: {},
  headId: null,
  v: SCHEMA_VERSION,
})

/** The run that answers a message whose id somebody chose: known again by whoever asks for it again. */
export function runUnder(id: string): string {
  if (!isId(id) || id.length > 60) throw invalid(`id: ${ID_EXPECTED}, at most 60 of them`)
  return `${id}_run`
}

/** A new message at the end of what is shown, and the session itself where it is the first. */
export function sendIntent(
  state: SessionState,
  parentId: string | null,
  input: UserInput,
  options: SendOptions,
  { createId, now }: Given,
): Intent & { message: UserMessage; runId: string } {
  const { whenBusy, goal, output } = options
  const metadata = goal ? { ...options.metadata, goal } : options.metadata
  const kept = {
    ...(metadata && { metadata: asJson(metadata, Metadata, 'metadata: expected an object of plain JSON') }),
    ...(output && { output: shapeOf(output) }),
  }
  const content = blocksOf(input)
  const id = options.id ?? createId()
  const runId = options.id === undefined ? createId() : runUnder(id)
  const message = userMessage(state, { id, parentId, content, ...kept }, now)
  const body = { id, runId, parentId, content, ...kept, ...(whenBusy && { whenBusy }) }
  const requests: Intent['requests'] = [{ id, request: { type: 'send', body } }]
  if (state.session) return { message, headId: id, runId, requests }
  const { title, metadata: about } = asJson(
    options.session ?? {},
    CreateSession,
    'session: expected title, metadata',
  )
  const own = { ...(title !== undefined && { title }), ...(about && { metadata: about }) }
  const create = {
    id: createId(),
    request: { type: 'createSession' as const, body: { ...own, id: state.sessionId } },
  }
  return {
    session: { ...newSession(state.sessionId, now), ...own },
    message,
    headId: id,
    runId,
    requests: [create, ...requests],
  }
}

function known(state: SessionState, id: string): Message {
  const message = messageOf(state, idIn(state, id))
  if (!message) throw new TidemarkError('not-found', `messageId: no message ${id} is loaded in this session`)
  return message
}

const commandIntent = (body: Command, fields: Omit<Intent, 'requests'> = {}): Intent => ({
  ...fields,
  requests: [{ id: body.id, request: { type: 'command', body } }],
})

/** Another answer to the user message that `messageId` answers, or is; or one that goes on from that answer. */
export function regenerateIntent(
  state: SessionState,
  messageId: string,
  { createId }: Given,
  type: 'regenerate' | 'continue' = 'regenerate',
) {
  const given = known(state, messageId)
  const continues = type === 'continue'
  if (continues && !isCutOff(given)) throw invalid('messageId: expected an answer that was cut off')
  let question: Message | undefined = given
  while (question && question.role !== 'user') {
    question = question.parentId === null ? undefined : messageOf(state, question.parentId)
  }
  if (!question) throw invalid('messageId: expected an answer, or the user message it answers')
  const runId = createId()
  const body = { id: createId(), type, messageId: continues ? given.id : question.id, runId }
  return { ...commandIntent(body, { headId: headFor(state, body) }), runId, questionId: question.id }
}

/** Another version of a user message, beside it. */
export function editIntent(
  state: SessionState,
  messageId: string,
  input: UserInput,
  { createId, now }: Given,
) {
  const old = known(state, messageId)
  if (old.role !== 'user') throw invalid('messageId: expected a user message; only those can be edited')
  const content = blocksOf(input)
  const newId = createId()
  const runId = createId()
  const message = userMessage(state, { id: newId, parentId: old.parentId, content, ...besides(old) }, now)
  const body: Command = { id: createId(), type: 'edit', messageId: old.id, newId, runId, content }
  return { ...commandIntent(body, { message, headId: newId }), message, runId }
}

/** What a call has to wait for where this is said of it. */
const WAITS: Partial<Record<CallWord['type'], CallStage>> = {
  approve: 'approval',
  toolResult: 'client',
}

/** What somebody says about a call that waits. */
export function callIntent(
  state: SessionState,
  callId: string,
  given: CallWord,
  { createId }: Given,
): Intent {
  const named = waitingIn(state).filter(({ id, toolCallId }) => id === callId || toolCallId === callId)
  const stage = WAITS[given.type]
  const message = named.find((call) => !stage || call.stage === stage)
  if (!message) {
    const what = named[0] && (stage === 'client' ? ' for a result' : ' to be allowed')
    throw new TidemarkError('not-found', `callId: no call ${callId} waits${what ?? ''} in this session`)
  }
  const said = { ...given, id: createId(), messageId: message.id }
  const expected = `${given.type}: expected plain JSON, and text as a reason or an error`
  const command = asJson(said, Command, expected)
  // What JSON cannot say is left out of it, and a call would be executed with something else than was said.
  for (const key in given) if (given[key] !== undefined && !(key in command)) throw invalid(expected)
  // So it would be with a null, which on the wire is what is not said.
  if (command.type === 'approve' && command.arguments === null)
    throw invalid('arguments: expected more than null')
  return commandIntent(command)
}

/** The branch through `messageId`, shown to its end. */
export function selectIntent(state: SessionState, messageId: string, { createId }: Given): Intent {
  const { id } = known(state, messageId)
  const headId = leafOf(messagesOf(state), id)?.id ?? id
  return commandIntent({ id: createId(), type: 'selectBranch', messageId: headId }, { headId })
}
