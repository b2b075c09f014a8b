import type { Message } from '../../src/message/schema.ts'
import { pathTo } from '../../src/message/tree.ts'
import { sameJson } from '../../src/protocol/merge.ts'
import { messagesOf } from '../../src/protocol/state.ts'
import { SESSIONS } from './accounts.ts'
import type { Device, Tab } from './clients.ts'
import { pairingProblems } from './tools.ts'
import type { SessionTruth } from './truth.ts'
import type { World } from './world.ts'

const inOrder = (messages: readonly Message[]) => [...messages].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))

function firstDifference(what: string, given: readonly Message[], wanted: readonly Message[]): string[] {
  for (let at = 0; at < Math.max(given.length, wanted.length); at++)
    if (!sameJson(given[at], wanted[at]))
      return [`${what}: ${JSON.stringify(given[at])} instead of ${JSON.stringify(wanted[at])}`]
  return []
}

async function deviceDiffers(device: Device, truth: SessionTruth): Promise<string[]> {
  const where = `in the end ${device.name} ${truth.id}`
  const { session, rows, outbox } = await device.disk.rows.window(truth.id, { limit: 100_000 })
  if (outbox.length > 0 && !truth.deleted)
    return [`${where}: ${outbox.length} wait: ${JSON.stringify(outbox)}`]
  // What nobody accepted stays, failed.
  const accepted = rows.filter(({ message }) => message.seq !== undefined)
  if (truth.deleted) return accepted.length === 0 ? [] : [`${where}: deleted, and still stored`]
  const wanted = inOrder(messagesOf(truth.state))
  const problems = firstDifference(`${where} on disk`, inOrder(rows.map(({ message }) => message)), wanted)
  if (truth.state.session && session?.session.title !== truth.state.session.title)
    problems.push(`${where}: the title is ${session?.session.title}, not ${truth.state.session.title}`)
  return problems
}

function tabDiffers(tab: Tab, truth: SessionTruth, at: number): string[] {
  const session = tab.sessions[at]
  if (!session || truth.deleted) return []
  const { messages, status, session: shown } = session.get()
  const where = `in the end ${tab.actor.name} ${truth.id}`
  const { headId } = truth.state
  const byId = new Map(messagesOf(truth.state).map((message): [string, Message] => [message.id, message]))
  const problems = firstDifference(`${where} shows`, messages, pathTo(byId, headId))
  if (status !== 'ready') problems.push(`${where} is ${status}`)
  if (truth.state.session && shown?.title !== truth.state.session.title)
    problems.push(`${where} has the title ${shown?.title}, not ${truth.state.session.title}`)
  return problems
}

/** What is still different between the server, every database and every tab. */
export async function differences(world: World): Promise<string[]> {
  // The server may have gone on after its last step.
  const problems = world.truth.refresh()
  for (const [at, id] of SESSIONS.entries()) {
    const truth = world.truth.session(id)
    const { live, runs } = truth.state
    if (!truth.deleted && live.size + runs.size > 0) problems.push(`in the end ${id} is still running`)
    for (const device of world.devices) {
      problems.push(...(await deviceDiffers(device, truth)))
      for (const tab of device.tabs) problems.push(...tabDiffers(tab, truth, at))
    }
  }
  for (const { tabs } of world.devices)
    for (const { waiting, actor } of tabs)
      for (const [id, sessionId] of waiting)
        if (!world.truth.session(sessionId).deleted) problems.push(`in the end ${actor.name} waits for ${id}`)
  return problems
}

/** What was asked for and promised is there, once. */
export function ledgerProblems(world: World): string[] {
  const said = new Map<string, number>()
  const unpaired = SESSIONS.flatMap((id) => pairingProblems(world.truth.session(id)))
  for (const id of SESSIONS)
    for (const { role, content } of messagesOf(world.truth.session(id).state)) {
      const [block] = content
      if (role === 'user' && block?.type === 'text') said.set(block.text, (said.get(block.text) ?? 0) + 1)
    }
  const missing = world.ledger.flatMap(({ text, sessionId, saved, discarded }) => {
    if (!SESSIONS.includes(sessionId)) return []
    const times = said.get(text) ?? 0
    if (times > 1) return [`${text} was said ${times} times`]
    const isPromised = saved === 'disk' && !discarded && !world.truth.session(sessionId).deleted
    return isPromised && times === 0 ? [`${text} was promised and is not there`] : []
  })
  return [...missing, ...unpaired]
}
