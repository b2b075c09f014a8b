import { createChat } from '../../src/chat/create.ts'
import type { ChatStorage } from '../../src/chat/ports.ts'
import type { Runtime } from '../../src/chat/runtime-port.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import type { Env } from '../../src/lib/env.ts'
import type { Message } from '../../src/message/schema.ts'
import { remote } from '../../src/runtime/remote.ts'
import type { Disk } from '../../src/testing/sim/disk.ts'
import type { Network } from '../../src/testing/sim/network.ts'
import type { Origin, SimulatedPage } from '../../src/testing/sim/page.ts'
import type { Actor, Schedule } from '../../src/testing/sim/schedule.ts'

/** Every tab opens all of them. */
export const SESSIONS = ['a', 'b']

export interface Tab {
  device: Device
  actor: Actor
  page: SimulatedPage
  chat: Chat
  sessions: ChatSession[]
  /** The newest version of each message that was shown here. */
  seen: Map<string, number>
  /** What was shown of the answers that were stopped here, by message. */
  stopped: Map<string, Message>
  /** Answers that somebody waits for here, with their session. */
  waiting: Map<string, string>
}

/** A browser profile on a machine: one database, and tabs. */
export interface Device {
  name: string
  origin: Origin
  disk: Disk
  skew: number
  tabs: Tab[]
  /** Sessions that were written since the oracles looked. */
  written: Set<string>
}

/** What a planted fault may put between a tab and its world. */
export interface Wraps {
  /** Opened by every tab. @default SESSIONS */
  sessions?: readonly string[]
  env?: (env: Env, actor: Actor) => Env
  storage?: (storage: ChatStorage, actor: Actor) => ChatStorage
  runtime?: (runtime: Runtime, actor: Actor) => Runtime
  fetch?: (fetchIt: typeof fetch, actor: Actor) => typeof fetch
  page?: (page: SimulatedPage, actor: Actor) => SimulatedPage
}

export interface Around {
  schedule: Schedule
  network: Network
  wraps: Wraps
}

export function openTab({ schedule, network, wraps }: Around, device: Device, number: number): Tab {
  const actor = schedule.actor(`${device.name}t${number}`)
  actor.skew = device.skew
  const simulated = device.origin.page(actor)
  const page = wraps.page?.(simulated, actor) ?? simulated
  const env = schedule.env(actor)
  const storage = device.disk.open(actor)
  const fetchIt = network.fetch(actor)
  const runtime = remote({ url: 'http://server', fetch: wraps.fetch?.(fetchIt, actor) ?? fetchIt })
  const chat = createChat({
    runtime: wraps.runtime?.(runtime, actor) ?? runtime,
    storage: wraps.storage?.(storage, actor) ?? storage,
    env: wraps.env?.(env, actor) ?? env,
    platform: page.platform,
  })
  const sessions = (wraps.sessions ?? SESSIONS).map((id) => chat.session(id))
  const tab: Tab = {
    device,
    actor,
    page,
    chat,
    sessions,
    seen: new Map(),
    stopped: new Map(),
    waiting: new Map(),
  }
  // Somebody looks: a list is rendered.
  for (const session of sessions) session.subscribe(() => void session.get())
  device.tabs.push(tab)
  return tab
}

/** Ends a tab where it stands. */
export function crash({ schedule, network }: Around, tab: Tab): void {
  schedule.kill(tab.actor)
  tab.page.gone()
  network.gone(tab.actor)
  tab.device.tabs = tab.device.tabs.filter((other) => other !== tab)
}
