import type { Message } from './schema.ts'

/** Messages in any order, or by id. */
export type Messages = Iterable<Message> | ReadonlyMap<string, Message>

const isMap = (messages: Messages): messages is ReadonlyMap<string, Message> => messages instanceof Map

const listOf = (messages: Messages): Iterable<Message> => (isMap(messages) ? messages.values() : messages)

function indexOf(messages: Messages): ReadonlyMap<string, Message> {
  if (isMap(messages)) return messages
  const byId = new Map<string, Message>()
  for (const message of messages) byId.set(message.id, message)
  return byId
}

/** What is not yet acknowledged has no `seq` and is newer than all that has one. */
const place = (message: Message): number => message.seq ?? Number.POSITIVE_INFINITY

/** Oldest first; where `seq` does not tell, in the order given. */
const byPlace = (a: Message, b: Message): number => (place(a) === place(b) ? 0 : place(a) < place(b) ? -1 : 1)

/**
 * The branch that ends in `headId`, oldest first. It stops at a parent that is absent (not loaded) and at one that was
 * passed already, so that a ring of parents ends, too. Empty for an unknown head.
 */
export function pathTo(messages: Messages, headId: string | null): Message[] {
  const byId = indexOf(messages)
  return pathBy((id) => byId.get(id), headId)
}

/** The same where messages can be looked up already. */
export function pathBy(find: (id: string) => Message | undefined, headId: string | null): Message[] {
  const path: Message[] = []
  const passed = new Set<string>()
  let id = headId
  while (id !== null && !passed.has(id)) {
    const message = find(id)
    if (!message) break
    passed.add(id)
    path.push(message)
    id = message.parentId
  }
  return path.reverse()
}

/** The messages that share a parent with `id`, itself included, oldest first. Empty for an unknown id. */
export function siblingsOf(messages: Messages, id: string): Message[] {
  const given = [...listOf(messages)]
  const own = isMap(messages) ? messages.get(id) : given.find((message) => message.id === id)
  return own ? given.filter((message) => message.parentId === own.parentId).sort(byPlace) : []
}

/** Parent id to children, in the order given. */
function childrenOf(messages: Iterable<Message>): ReadonlyMap<string, readonly Message[]> {
  const children = new Map<string, Message[]>()
  for (const message of messages) {
    if (message.parentId === null) continue
    const siblings = children.get(message.parentId)
    if (siblings) siblings.push(message)
    else children.set(message.parentId, [message])
  }
  return children
}

/**
 * Where the branch through `id` ends: its newest descendant, by `seq`, that nothing follows; itself where nothing follows
 * it. Among those without a `seq` the last one given is the newest. Undefined for an unknown id.
 */
export function leafOf(messages: Messages, id: string): Message | undefined {
  const given = [...listOf(messages)]
  const children = childrenOf(given)
  const below = new Set([id])
  // A set is walked in the order of insertion, also over what is added meanwhile, and a ring adds nothing twice.
  for (const parent of below) for (const child of children.get(parent) ?? []) below.add(child.id)
  let newest: Message | undefined
  let own: Message | undefined
  for (const message of given) {
    if (message.id === id) own = message
    if (!below.has(message.id) || children.has(message.id)) continue
    if (!newest || byPlace(newest, message) <= 0) newest = message
  }
  return newest ?? own
}
