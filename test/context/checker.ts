import type { AssembledContext } from '../../src/context/assemble.ts'
import type { Message } from '../../src/message/schema.ts'

/**
 * What is wrong with a context, told from the outside: nothing of the code under test is used here. `branch` is what the
 * context was made of.
 */
export function problemsOf(branch: readonly Message[], context: AssembledContext): string[] {
  return [
    ...order(branch, context),
    ...pairing(context.messages),
    ...content(branch, context),
    ...report(branch, context),
  ]
}

/** Oldest first, each at most once. A note may stand behind the results it came between. */
function* order(branch: readonly Message[], { messages }: AssembledContext): Generator<string> {
  const places = new Map<string, number>()
  for (const [place, message] of branch.entries()) if (!places.has(message.id)) places.set(message.id, place)
  let before = -1
  const seen = new Set<string>()
  for (const message of messages) {
    const place = places.get(message.id)
    if (place === undefined) yield `${message.id} is not from the history`
    else if (seen.has(message.id)) yield `${message.id} is sent twice`
    else if (branch[place]?.role !== 'system') {
      if (place < before) yield `${message.id} is out of order`
      before = place
    }
    seen.add(message.id)
  }
}

/** A stack of open calls: results right behind, all of them, nothing else between. */
function* pairing(messages: readonly Message[]): Generator<string> {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.toolCallId)) yield `${message.id} answers no call`
      open = open.filter((id) => id !== message.toolCallId)
      continue
    }
    if (open.length > 0) yield `${open.join()} not answered before ${message.id}`
    open = []
    if (message.role !== 'assistant') continue
    for (const block of message.content)
      if (block.type === 'toolCall' && !block.server) {
        if (open.includes(block.id)) yield `${message.id} calls ${block.id} twice`
        open.push(block.id)
      }
  }
  if (open.length > 0) yield `${open.join()} not answered at the end`
}

/** Nothing unsettled, failed or empty; one system prompt, apart; turns whole; the newest question in. */
function* content(branch: readonly Message[], { messages }: AssembledContext): Generator<string> {
  for (const message of messages) {
    const origin = branch.find((one) => one.id === message.id)
    if (message.role === 'system') yield `${message.id} is a system message among the others`
    if (message.status !== 'completed') yield `${message.id} is ${message.status}`
    if (origin && !['completed', 'interrupted'].includes(origin.status))
      yield `${message.id} was ${origin.status}`
    const blank = !message.content.some((block) => block.type !== 'text' || block.text.trim() !== '')
    if (blank && message.role !== 'tool') yield `${message.id} is empty`
  }
  const isQuestion = (message: Message) =>
    message.role === 'user' &&
    message.status === 'completed' &&
    message.content.some((b) => b.type === 'text' && b.text.trim() !== '')
  const newest = branch.findLast(isQuestion)
  if (newest && !messages.some((message) => message.id === newest.id)) yield 'the newest question is missing'
}

/** What is not among the messages: the instructions, and what notes repeat. */
const ELSEWHERE: ReadonlySet<string> = new Set(['system', 'pins', 'goal', 'memory'])

/** Every message that was given is told of once, and what is said to be in is in. */
function* report(branch: readonly Message[], context: AssembledContext): Generator<string> {
  const { included, dropped, messages } = context
  const told = [...included, ...dropped].map(({ id }) => id).sort()
  const given = branch.map(({ id }) => id).sort()
  if (told.join() !== given.join()) yield `told of ${told.join()}, given ${given.join()}`
  const sent = included.filter(({ reason }) => !ELSEWHERE.has(reason)).map(({ id }) => id)
  if (sent.join() !== messages.map(({ id }) => id).join()) yield 'what is included is not what is sent'
  if (included.filter(({ reason }) => reason === 'system').length > 1) yield 'two system prompts'
  for (const one of included) if (!(one.tokens >= 0)) yield `${one.id} has no tokens`
}
