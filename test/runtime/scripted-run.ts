import type { AssistantMessage, Message, UserBlock } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { moveHead, put, type Room, type Server, tell } from './scripted-server.ts'

const wait = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Who waits behind a question is put behind its answer. */
function pushBack(server: Server, room: Room, from: string, to: string): void {
  for (const [runId, waiting] of room.waiting) {
    if (waiting.parentId !== from) continue
    const message = put(room, { ...waiting, parentId: to })
    room.waiting.set(runId, message)
    tell(server, room, { type: 'message.updated', message })
  }
}

/** Says an answer, piece by piece, until it is over or was cancelled. Returns what was said. */
async function speak(server: Server, room: Room, message: AssistantMessage, runId: string, asked: string) {
  const { answer = (text) => [`re: ${text}`] } = server.options
  const stopped = new Promise<void>((resolve) => room.wake.set(runId, resolve))
  let text = ''
  for (const piece of answer(asked)) {
    await (typeof piece === 'string' ? wait() : Promise.race([piece, stopped]))
    if (room.cancelled.has(runId) || room.gone) break
    if (typeof piece !== 'string') continue
    const place = server.options.offsets === false ? {} : { offset: text.length }
    tell(server, room, { type: 'message.delta', id: message.id, index: 0, delta: piece, ...place })
    text += piece
    room.messages.set(message.id, { ...message, content: [{ type: 'text', text }] })
  }
  return text
}

/** Answers a question. */
async function answer(server: Server, room: Room, question: Message, runId: string): Promise<void> {
  tell(server, room, { type: 'run.started', runId })
  let message: AssistantMessage = put(room, {
    id: `a-${runId}`,
    sessionId: room.session.id,
    role: 'assistant',
    parentId: question.id,
    status: 'pending',
    content: [],
    createdAt: 2,
    updatedAt: 2,
    runId,
    v: 1,
  })
  tell(server, room, { type: 'message.created', message })
  if (room.waiting.size === 0) moveHead(server, room, message.id)
  pushBack(server, room, question.id, message.id)
  message = put(room, { ...message, status: 'streaming' })
  tell(server, room, { type: 'message.started', id: message.id, runId, rev: room.rev })
  const text = await speak(server, room, message, runId, textOf(question))
  const content = text === '' ? [] : [{ type: 'text' as const, text }]
  if (room.cancelled.has(runId)) {
    const ended = put(room, { ...message, status: 'interrupted' as const, content })
    tell(server, room, { type: 'message.interrupted', id: ended.id, rev: ended.rev ?? 0, message: ended })
  } else {
    const ended = put(room, { ...message, status: 'completed' as const, content })
    tell(server, room, { type: 'message.completed', message: ended })
  }
}

/** Answers a question when its turn comes. */
export function run(server: Server, room: Room, question: Message, runId: string): void {
  room.waiting.set(runId, question)
  room.tail = room.tail.then(async () => {
    const asked = room.waiting.get(runId) ?? question
    room.waiting.delete(runId)
    if (!room.cancelled.has(runId)) await answer(server, room, asked, runId)
    const outcome = room.cancelled.has(runId) ? 'interrupted' : 'completed'
    tell(server, room, { type: 'run.finished', runId, outcome })
  })
}

interface Question {
  id: string
  runId: string
  parentId: string | null
  content: UserBlock[]
}

/** What is said after a question that was answered meanwhile follows the answer. */
function tipOf(room: Room, parentId: string | null): string | null {
  const parent = parentId && (room.clientIds.get(parentId) ?? parentId)
  const answers = [...room.messages.values()].filter(
    (message) => message.role === 'assistant' && message.parentId === parent,
  )
  return answers.at(-1)?.id ?? parent
}

/** Takes a question in, once. */
export function accept(server: Server, room: Room, { id, runId, parentId, content }: Question): Message {
  const own = server.options.renames ? `srv-${id}` : id
  if (own !== id) room.clientIds.set(id, own)
  const message = put(room, {
    id: own,
    ...(own !== id && { clientId: id }),
    sessionId: room.session.id,
    role: 'user',
    parentId: tipOf(room, parentId),
    status: 'completed',
    content,
    createdAt: 1,
    updatedAt: 1,
    v: 1,
  })
  tell(server, room, { type: 'message.created', message, ...(own !== id && { clientId: id }) })
  moveHead(server, room, own)
  run(server, room, message, runId)
  return message
}
