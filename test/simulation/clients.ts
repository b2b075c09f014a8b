import { createChat } from '../../src/chat/create.ts'
import type { ChatStorage } from '../../src/chat/ports.ts'
import type { Runtime } from '../../src/chat/runtime-port.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import type { Env } from '../../src/lib/env.ts'
import type { Message } from '../../src/message/schema.ts'
import type { Identity } from '../../src/runtime/http.ts'
import { remote } from '../../src/runtime/remote.ts'
import type { Disk } from '../../src/testing/sim/disk.ts'
import type { Network } from '../../src/testing/sim/network.ts'
import type { Origin, SimulatedPage } from '../../src/testing/sim/page.ts'
import type { Actor, Schedule } from '../../src/testing/sim/schedule.ts'
import { type Account, foreign, idIn, SESSIONS_OF } from './accounts.ts'
import type { Claims } from './claims.ts'

export interface Tab {
  device: Device
  account: Account
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
  /** Who is signed in: every tab sends that along, whoever opened it. */
  account: Account
  tabs: Tab[]
  claims: Claims
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
  identity?: (identity: Identity) => Identity | Identity['headers']
}

export interface Around {
  schedule: Schedule
  network: Network
  wraps: Wraps
  /** Who opened a tab, by its name. */
  makers: Map<string, Account>
  problems: string[]
}

/** A tab's requests, each looked at: whose it is, and who claimed it. */
function watchedFetch(
  { network, makers, problems, schedule }: Around,
  { claims, skew }: Device,
  actor: Actor,
): typeof fetch {
  const send = network.fetch(actor)
  return (input, init = {}) => {
    problems.push(...foreign(makers, String(input), init))
    problems.push(...claims.sends(idIn(init.body), actor, schedule.now() + skew))
    return send(input, init)
  }
}

export function openTab(around: Around, device: Device, number: number): Tab {
  const { schedule, wraps } = around
  const { account } = device
  const actor = schedule.actor(`${device.name}t${number}`)
  actor.skew = device.skew
  around.makers.set(actor.name, account)
  const simulated = device.origin.page(actor)
  const page = wraps.page?.(simulated, actor) ?? simulated
  const env = schedule.env(actor)
  const storage = device.disk.open(actor)
  const fetchIt = watchedFetch(around, device, actor)
  const headers = () => {
    const identity = { account: device.account, headers: { authorization: device.account } }
    return wraps.identity?.(identity) ?? identity
  }
  const runtime = remote({ url: 'http://server', headers, fetch: wraps.fetch?.(fetchIt, actor) ?? fetchIt })
  const chat = createChat({
    account,
    runtime: wraps.runtime?.(runtime, actor) ?? runtime,
    storage: wraps.storage?.(storage, actor) ?? storage,
    env: wraps.env?.(env, actor) ?? env,
    platform: page.platform,
  })
  const sessions = (wraps.sessions ?? SESSIONS_OF[account]).map((id) => chat.session(id))
  const tab: Tab = {
    device,
    account,
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
