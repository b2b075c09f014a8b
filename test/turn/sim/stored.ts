import {
  type AssistantMessage,
  isCutOff,
  isSettled,
  type Message,
  type ToolMessage,
} from '../../../src/message/schema.ts'
import { textOf } from '../../../src/message/text.ts'

/** What is stored of the session's messages, by whoever owns the truth, and what was wrong about it on the way. */
export interface Stored {
  readonly problems: string[]
  readonly messages: ReadonlyMap<string, Message>
  /** Names and keys of the calls that were executed, as often as they were. */
  readonly executed: readonly string[]
  /** One transaction's messages. */
  commit(batch: readonly Message[]): void
  /** Somebody is told that their question is on a disk. */
  promise(id: string): void
  /** Questions that were promised, and are not there. */
  lost(): string[]
  /** Somebody allows a call, by the id of its message. */
  allow(id: string): void
  /** A session is taken over from a page that stands still: what that one was about to do, it does when it goes on. */
  takeOver(): void
  /** A tool is about to do its work. */
  begin(name: string, key: string, args: unknown): void
  /** A page of a device is about to do what a server left to it. */
  serve(device: string, key: string, args: unknown, needsApproval: boolean): void
  /** Keys of the calls that pages executed, with their devices. */
  readonly served: readonly string[]
  /** A model is asked, and told these results. */
  ask(told: readonly Message[]): void
}

/** How far a call has come. It never goes back. */
const rankOf = ({ status, stage, approved }: ToolMessage): number => {
  if (status !== 'pending') return 4
  // A page that is left a call may ask for somebody's word first.
  if (stage === undefined || (stage === 'client' && !approved)) return 0
  return stage === 'approval' ? 1 : stage === 'approved' ? 2 : 3
}

/** What is said of a call that was certainly not executed. */
const NOT_EXECUTED = /did not allow this call|tool was not executed|before the tool was executed/

/** What is said of a call of which nobody knows. */
const MAYBE_EXECUTED = /may have been carried out/

interface Known {
  readonly problems: string[]
  readonly messages: Map<string, Message>
  readonly executed: string[]
  readonly served: string[]
  /** Messages of calls that somebody allowed. */
  readonly allowed: Set<string>
  isTakenOver: boolean
}

/** A call's message is what it was, or further. What was decided once stays. */
function* stepProblems(before: ToolMessage, now: ToolMessage): Generator<string> {
  const where = `the call ${now.toolName} of ${now.id}`
  if (rankOf(now) < rankOf(before)) yield `${where} went back from ${before.stage} to ${now.stage}`
  if (isSettled(before) && textOf(before) !== textOf(now))
    yield `${where} said ${textOf(before)}, and says ${textOf(now)}`
  const isStopped = textOf(now).includes('the run was stopped')
  if (rankOf(before) >= 2 && !isStopped && JSON.stringify(before.arguments) !== JSON.stringify(now.arguments))
    yield `${where} was allowed with ${JSON.stringify(before.arguments)}, not ${JSON.stringify(now.arguments)}`
  if (rankOf(before) === 2 && textOf(now).includes('did not allow'))
    yield `${where} was allowed, then refused`
}

/** What goes on from an answer that was cut off stands beside it, and begins with its text. */
function* continuedProblems({ messages }: Known, now: AssistantMessage): Generator<string> {
  const cut = messages.get(now.continues ?? '')
  const [first] = now.content
  const where = `the answer ${now.id} goes on from ${now.continues},`
  if (!cut || !isCutOff(cut)) yield `${where} which was not cut off`
  else if (cut.parentId !== now.parentId) yield `${where} and does not stand beside it`
  else if (isSettled(now) && first && (first.type !== 'text' || first.text !== textOf(cut)))
    yield `${where} and does not begin with its text`
}

/** What was said to its end stays as it was said. */
const isRewritten = (before: Message | undefined, now: Message): boolean =>
  before?.role === 'assistant' &&
  before.status === 'completed' &&
  JSON.stringify(before.content) !== JSON.stringify((now as AssistantMessage).content)

/** The results before this one, of the same answer. */
function elderSiblings({ messages }: Known, { parentId }: ToolMessage): ToolMessage[] {
  const parent = parentId === null ? undefined : messages.get(parentId)
  return parent?.role === 'tool' ? [...elderSiblings({ messages } as Known, parent), parent] : []
}

function commit(known: Known, batch: readonly Message[]): void {
  const { messages, problems } = known
  const ended: ToolMessage[] = []
  for (const message of batch) {
    const before = messages.get(message.id)
    messages.set(message.id, message)
    if (isRewritten(before, message))
      problems.push(`the answer ${message.id} was said to its end, and is another`)
    if (message.role === 'assistant' && message.continues) problems.push(...continuedProblems(known, message))
    if (message.role !== 'tool') continue
    if (before?.role !== 'tool') continue
    problems.push(...stepProblems(before, message))
    if (before.stage === 'started' && isSettled(message)) ended.push(message)
  }
  for (const message of ended)
    for (const elder of elderSiblings(known, message))
      if (elder.stage === 'started')
        problems.push(
          `the result of ${message.id} is stored before that of ${elder.id}, which was called first`,
        )
}

/** The message of a call, by the call's key: the answer's id, and its place among the blocks. */
function messageBy({ messages }: Known, key: string): { found?: ToolMessage; asked?: unknown } {
  const cut = key.lastIndexOf('_')
  const answer = messages.get(key.slice(0, cut))
  const block = answer?.role === 'assistant' ? answer.content[Number(key.slice(cut + 1))] : undefined
  if (block?.type !== 'toolCall') return {}
  for (const message of messages.values())
    if (message.role === 'tool' && message.toolCallId === block.id) {
      const [first = message] = elderSiblings({ messages } as Known, message)
      if (first.parentId === answer?.id) return { found: message, asked: block.arguments }
    }
  return {}
}

/** Whether a page that stood still carries out what another has gone on with, and has spoken of truthfully. */
const isLate = ({ isTakenOver }: Known, name: string, found: ToolMessage | undefined): boolean =>
  isTakenOver && found?.status === 'completed' && (name === 'again' || MAYBE_EXECUTED.test(textOf(found)))

function begin(known: Known, name: string, key: string, args: unknown): void {
  const { problems, executed, allowed } = known
  const { found, asked } = messageBy(known, key)
  const times = executed.filter((each) => each === `${name} ${key}`).length
  executed.push(`${name} ${key}`)
  if (times > 0 && name !== 'again') problems.push(`${name} ${key} is executed once more`)
  if (found?.stage !== 'started' && !isLate(known, name, found))
    problems.push(`${name} ${key} is executed, and stored as ${found?.stage ?? found?.status ?? 'nothing'}`)
  const wanted = JSON.stringify(found?.arguments ?? asked)
  if (found && JSON.stringify(args) !== wanted)
    problems.push(`${name} ${key} is executed with ${JSON.stringify(args)} instead of ${wanted}`)
  if ((name === 'asks' || name === 'hurry') && !allowed.has(found?.id ?? ''))
    problems.push(`${name} ${key} is executed, and nobody allowed it`)
}

/** A device executes a call once; of two, each may, and the first result counts. What a page has not heard of, it does not know. */
function serve(known: Known, device: string, key: string, args: unknown, needsApproval: boolean): void {
  const { problems, served, allowed } = known
  const { found, asked } = messageBy(known, key)
  if (served.includes(`${device} ${key}`)) problems.push(`page ${key} is executed once more on ${device}`)
  served.push(`${device} ${key}`)
  if (found?.stage !== 'client' && !(found && isSettled(found)))
    problems.push(`page ${key} is executed, and stored as ${found?.stage ?? found?.status ?? 'nothing'}`)
  const wanted = JSON.stringify(found?.arguments ?? asked)
  if (JSON.stringify(args) !== wanted)
    problems.push(`page ${key} is executed with ${JSON.stringify(args)} instead of ${wanted}`)
  if (needsApproval && !allowed.has(found?.id ?? ''))
    problems.push(`page ${key} is executed, and nobody allowed it`)
}

function ask({ messages, problems }: Known, told: readonly Message[]): void {
  for (const { id, role } of told) {
    const stored = messages.get(id)
    if (role === 'tool' && stored && !isSettled(stored))
      problems.push(`a model is told the result ${id} before it is stored`)
  }
}

export function createStored(): Stored {
  const known: Known = {
    ...{ problems: [], messages: new Map(), executed: [], served: [], allowed: new Set() },
    isTakenOver: false,
  }
  const promised: string[] = []
  return {
    ...known,
    commit: (batch) => commit(known, batch),
    allow: (id) => void known.allowed.add(id),
    promise: (id) => void promised.push(id),
    lost: () => promised.filter((id) => known.messages.get(id)?.status !== 'completed'),
    takeOver() {
      known.isTakenOver = true
    },
    begin: (name, key, args) => begin(known, name, key, args),
    serve: (device, key, args, needsApproval) => serve(known, device, key, args, needsApproval),
    ask: (told) => ask(known, told),
  }
}

/** Of a branch: every call of an answer is answered in its place, and truthfully. */
export function* resultProblems(
  messages: readonly Message[],
  { executed, served }: Stored,
): Generator<string> {
  for (const [at, answer] of messages.entries()) {
    // What was cut off is not executed.
    if (answer.role !== 'assistant' || answer.status !== 'completed') continue
    const calls = answer.content.flatMap((block, index) =>
      block.type === 'toolCall' ? [{ ...block, key: `${answer.id}_${index}` }] : [],
    )
    for (const [n, { id, name, key }] of calls.entries()) {
      const result = messages[at + 1 + n]
      if (result?.role !== 'tool' || result.toolCallId !== id) {
        yield `call ${n} of ${answer.id} is not answered in its place`
        continue
      }
      const said = textOf(result)
      if (!said.startsWith('{"ok":')) yield `${name} says ${said}`
      if (executed.includes(`${name} ${key}`) && NOT_EXECUTED.test(said))
        yield `${name} was executed, and says: ${said}`
      const byPerson = said.includes('"yes ')
      if (
        name === 'page' &&
        said.startsWith('{"ok":true') &&
        !byPerson &&
        !served.some((each) => each.endsWith(` ${key}`))
      )
        yield `nobody executed ${name}, and it says: ${said}`
    }
  }
}
