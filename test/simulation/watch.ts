import type { SessionSnapshot } from '../../src/chat/types.ts'
import { isSettled, type Message } from '../../src/message/schema.ts'
import { parseEventId } from '../../src/protocol/events.ts'
import { sameJson } from '../../src/protocol/merge.ts'
import type { Device, Tab } from './clients.ts'
import { isFormer, type SessionTruth, versionOf } from './truth.ts'
import type { World } from './world.ts'

const textIn = (message: Message): string => JSON.stringify(message.content).slice(0, 200)

/** Of one message that is shown: it looks as the server had it, and never goes back. */
function shownMessage(tab: Tab, truth: SessionTruth, message: Message): string[] {
  if (message.role === 'user') return []
  const where = `${tab.actor.name} ${truth.id}: ${message.id}`
  const stopped = tab.stopped.get(message.id)
  if (stopped) {
    if (isSettled(message)) tab.stopped.delete(message.id)
    else if (!sameJson(stopped.content, message.content))
      return [`${where} goes on after stop: ${textIn(message)}`]
  }
  const version = versionOf(truth, message)
  if (version < 0 && isFormer(truth, message)) return []
  if (version < 0)
    return [`${where} (${message.status}) is shown as the server never had it: ${textIn(message)}`]
  if (version < (tab.seen.get(message.id) ?? -1))
    return [`${where} (${message.status}) went back to what it was: ${textIn(message)}`]
  tab.seen.set(message.id, version)
  return []
}

function shownOrder(tab: Tab, { id, messages }: SessionSnapshot): string[] {
  const where = `${tab.actor.name} ${id}`
  const ids = messages.map((message) => message.id)
  if (new Set(ids).size !== ids.length) return [`${where}: shown twice: ${ids}`]
  let local = false
  for (const message of messages) {
    if (message.seq === undefined) local = true
    else if (local) return [`${where}: ${message.id} is acknowledged and stands behind what is not`]
  }
  return []
}

const looked = new WeakSet<SessionSnapshot>()

/** What a tab shows, whenever it shows something else. */
export function watchTab(world: World, tab: Tab): string[] {
  return tab.sessions.flatMap((session) => {
    const snapshot = session.get()
    if (looked.has(snapshot)) return []
    looked.add(snapshot)
    const truth = world.truth.session(session.id)
    if (truth.deleted) return []
    const messages = snapshot.messages.flatMap((message) => shownMessage(tab, truth, message))
    return [...shownOrder(tab, snapshot), ...messages]
  })
}

/** Timers that a tab may have at once: a few for each session, whatever it has been through. */
const MOST_TIMERS = 24

/** Whatever a tab has been through, it waits for a few things only. */
export function watchResources(world: World, tab: Tab): string[] {
  const { timers } = world.schedule.waiting(tab.actor)
  const listeners = tab.page.listeners()
  if (timers > MOST_TIMERS) return [`${tab.actor.name}: ${timers} timers`]
  return listeners > 7 ? [`${tab.actor.name}: ${listeners} listeners`] : []
}

/** One stored row against the server's story up to the stored cursors. */
function storedMessage(
  where: string,
  truth: SessionTruth,
  id: string,
  stored: Message | undefined,
  cursors: { n: number; rev: number },
): string[] {
  const versions = truth.versions.get(id) ?? []
  const byEvent = versions.findLastIndex(({ n }) => n <= cursors.n)
  // A page tells of a message once, at its newest revision: one that changed again since comes with a later page.
  const { rev = Number.POSITIVE_INFINITY } = versions.at(-1)?.message ?? {}
  const byRev = rev <= cursors.rev ? versions.findIndex(({ message }) => message.rev === rev) : -1
  const atLeast = Math.max(byEvent, byRev)
  if (!stored)
    return atLeast < 0
      ? []
      : [`${where}: the cursors ${cursors.n} and ${cursors.rev} are ahead of ${id}, which is not stored`]
  if (stored.role === 'user') return []
  const version = versionOf(truth, stored)
  if (version < 0)
    return [`${where}: ${id} (${stored.status}) is stored as the server never had it: ${textIn(stored)}`]
  return version < atLeast
    ? [`${where}: the cursor is ahead of ${id} (${stored.status}): ${textIn(stored)}`]
    : []
}

/** What a device has on disk of a session, after each batch. */
async function watchSession(world: World, device: Device, sessionId: string): Promise<string[]> {
  const truth = world.truth.session(sessionId)
  if (truth.deleted) return []
  const { session, rows } = await device.disk.rows.window(sessionId, { limit: 100_000 })
  const where = `${device.name} ${sessionId}`
  const byId = new Map(rows.map(({ message }): [string, Message] => [message.id, message]))
  const problems: string[] = []
  const cursor = session?.eventId ? parseEventId(session.eventId) : undefined
  // The story that is stored may be one that the server knows nothing of any more.
  if (truth.former.size > 0 && (!cursor || truth.tags[cursor.n - 1] !== cursor.tag)) return []
  const n = cursor?.n ?? 0
  const cursors = { n, rev: session?.rev ?? 0 }
  for (const id of new Set([...byId.keys(), ...truth.versions.keys()])) {
    const stored = byId.get(id)
    if (stored && !truth.versions.has(id) && stored.role !== 'user')
      problems.push(`${where}: ${id} is stored, and the server never had it`)
    else problems.push(...storedMessage(where, truth, id, stored, cursors))
  }
  for (const { message, position } of rows)
    if (message.seq !== undefined && message.seq !== position)
      problems.push(`${where}: ${message.id} has the place ${position} and the number ${message.seq}`)
  return [...problems, ...watchTidemark(where, truth, session?.tidemark ?? null, byId)]
}

function watchTidemark(
  where: string,
  truth: SessionTruth,
  tidemark: string | null,
  byId: ReadonlyMap<string, Message>,
): string[] {
  const mark = tidemark === null ? undefined : byId.get(tidemark)
  if (tidemark !== null && mark?.seq === undefined)
    return [`${where}: the tidemark ${tidemark} is not stored`]
  for (const [id, versions] of truth.versions) {
    const first = versions[0]?.message
    if (!mark || !first || (first.seq ?? 0) > (mark.seq ?? 0)) continue
    const stored = byId.get(id)
    if (!stored) return [`${where}: ${id} is below the tidemark and not stored`]
    if (!isSettled(stored)) return [`${where}: ${id} is below the tidemark and ${stored.status}`]
  }
  return []
}

/** All oracles that hold at any moment. */
export async function watch(world: World): Promise<void> {
  world.problems.push(...world.truth.refresh())
  for (const device of world.devices) {
    for (const tab of device.tabs) world.problems.push(...watchTab(world, tab), ...watchResources(world, tab))
    if (device.written.size === 0) continue
    const written = [...device.written]
    device.written.clear()
    for (const id of written) world.problems.push(...(await watchSession(world, device, id)))
  }
}
