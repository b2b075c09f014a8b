import { isSettled, type Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { validateConversation } from '../../src/message/validate.ts'
import { sameJson } from '../../src/protocol/merge.ts'
import type { Device, Tab } from '../simulation/clients.ts'
import { differences, ledgerProblems } from '../simulation/converge.ts'
import { watch } from '../simulation/watch.ts'
import type { World } from '../simulation/world.ts'

/** What has to hold while a story is told, and in the end. */
export interface Oracle {
  /** After each step. Adds what is wrong to the world's problems. */
  look(world: World): Promise<void>
  /** What is not yet as it has to be in the end. */
  differs(world: World): Promise<string[]>
}

/** Over a server: that of the walk. */
export const serverOracle = (): Oracle => ({
  look: watch,
  async differs(world) {
    const differs = await differences(world)
    return differs.length > 0 ? differs : ledgerProblems(world)
  },
})

/** Of a message that a page shows: its text only grows, and its end stands. */
function goesOn(where: string, before: Message, now: Message): string[] {
  const [was, is] = [JSON.stringify(before.content), JSON.stringify(now.content)]
  if (now.role === 'user' || now.role === 'tool') return []
  if (isSettled(before) && (before.status !== now.status || was !== is))
    return [`${where}: ${now.id} ended ${before.status}, ${was}, and is ${now.status}, ${is}`]
  return textOf(now).startsWith(textOf(before)) ? [] : [`${where}: ${now.id} said ${was}, and says ${is}`]
}

/** What one device has on disk, against what was asked there. */
async function diskDiffers({ ledger }: World, device: Device): Promise<string[]> {
  const { rows, outbox } = await device.disk.rows.window('a', { limit: 1_000 })
  const open = rows.filter(({ message }) => !isSettled(message))
  const said = rows.filter(({ message }) => message.role === 'user').map(({ message }) => textOf(message))
  const problems = [...outbox, ...open].map((row) => `in the end it waits: ${JSON.stringify(row)}`)
  for (const { text, saved } of ledger) {
    const times = said.filter((other) => other === text).length
    if (times > 1) problems.push(`${text} was said ${times} times`)
    if (times === 0 && saved === 'disk') problems.push(`${text} was promised and is not there`)
  }
  return problems
}

async function tabDiffers({ device, sessions, actor }: Tab): Promise<string[]> {
  const { rows } = await device.disk.rows.window('a', { limit: 1_000 })
  const stored = new Map(rows.map(({ message }) => [message.id, message]))
  const { messages = [], status } = sessions[0]?.get() ?? {}
  const problems = messages.flatMap((message) =>
    sameJson(stored.get(message.id), message)
      ? []
      : [`${actor.name} shows ${JSON.stringify(message)}, not ${JSON.stringify(stored.get(message.id))}`],
  )
  if (status !== 'ready') problems.push(`in the end ${actor.name} is ${status}`)
  const { errors } = validateConversation(messages)
  return [...problems, ...errors.map(({ code, message }) => `${actor.name} shows ${code}: ${message}`)]
}

/** Where the page owns the truth: what was promised is stored once, and every page shows what is stored. */
export function directOracle(): Oracle {
  const shown = new Map<Tab, Map<string, Message>>()
  return {
    async look(world) {
      for (const tab of world.devices.flatMap(({ tabs }) => tabs)) {
        const known = shown.get(tab) ?? new Map<string, Message>()
        shown.set(tab, known)
        for (const message of tab.sessions[0]?.get().messages ?? []) {
          const before = known.get(message.id)
          if (before && before !== message) world.problems.push(...goesOn(tab.actor.name, before, message))
          known.set(message.id, message)
        }
      }
    },
    async differs(world) {
      const problems: string[] = []
      for (const device of world.devices) {
        problems.push(...(await diskDiffers(world, device)))
        for (const tab of device.tabs) problems.push(...(await tabDiffers(tab)))
      }
      return problems
    },
  }
}
