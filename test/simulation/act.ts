import type { ChatSession, Sent } from '../../src/chat/types.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { isSettled, type Message } from '../../src/message/schema.ts'
import { crash, type Device, openTab, type Tab } from './clients.ts'
import type { Action, ActionType } from './plan.ts'
import { type Asked, count, restore, type World } from './world.ts'

interface Scene {
  world: World
  device: Device
  tab: Tab
  session: ChatSession
  action: Action
}

/** Codes with which an action may be refused; anything else is a mistake. */
const REFUSALS = ['aborted', 'not-found', 'conflict', 'invalid-request']

/** Notes how an action ended; what it threw has to be one of ours. */
function watch<T>(
  { world, tab, action }: Scene,
  work: Promise<T>,
  then: (value: T) => void = () => {},
): void {
  work.then(then, (thrown: unknown) => {
    if (tab.actor.state === 'dead') return
    if (!(thrown instanceof TidemarkError) || !REFUSALS.includes(thrown.code))
      world.problems.push(`${action.type} threw ${thrown instanceof Error ? thrown.stack : String(thrown)}`)
  })
}

/** What comes of something that is answered. */
function answered({ tab, world, session }: Scene, { id, answer }: Sent): void {
  const key = `${id} ${tab.waiting.size}`
  tab.waiting.set(key, session.id)
  answer.then(
    (message) => {
      tab.waiting.delete(key)
      if (!isSettled(message)) world.problems.push(`the answer to ${id} was not settled`)
    },
    () => tab.waiting.delete(key),
  )
}

function ask(scene: Scene, text: string, work: Promise<Sent>): void {
  const { world, session } = scene
  const asked: Asked = { text, sessionId: session.id }
  world.ledger.push(asked)
  watch(scene, work, (sent) => {
    asked.saved = sent.saved
    answered(scene, sent)
  })
  work.catch((thrown: unknown) => {
    asked.refused = thrown instanceof TidemarkError ? thrown.code : 'thrown'
  })
}

const messageBy = ({ session, action }: Scene, fits: (message: Message) => boolean): Message | undefined => {
  const fitting = session.get().messages.filter(fits)
  return fitting[action.at % Math.max(1, fitting.length)]
}

function stop(scene: Scene): void {
  const { session, tab } = scene
  const open = () =>
    session.get().messages.filter((message) => message.role === 'assistant' && !isSettled(message))
  // What begins while the stop is stored belongs to a run that nobody stopped.
  const inFlight = new Set(open().map(({ id }) => id))
  watch(scene, session.stop(), () => {
    for (const message of open()) if (inFlight.has(message.id)) tab.stopped.set(message.id, message)
  })
}

function onMessage(scene: Scene, does: (message: Message) => void, fits = (_: Message) => true): void {
  const message = messageBy(scene, fits)
  if (message) does(message)
}

const kill = ({ world, device, tab }: Scene): void => {
  crash(world, tab)
  if (device.tabs.length === 0) openTab(world, device, ++world.tabsOpened)
}

/** Milliseconds for which somebody waits to be asked something. */
const ASKED = 1_500

/** Says something about a call that waits. */
async function decide(scene: Scene, each: () => void): Promise<void> {
  const { tab, session: first, action } = scene
  const asking = () => tab.sessions.find((session) => session.get().waiting.length > 0)
  if (!asking()) await pass(scene.world, ASKED, each)
  const session = tab.actor.state === 'running' ? (asking() ?? first) : first
  const { waiting } = session.get()
  const call = waiting[action.at % Math.max(1, waiting.length)]
  if (!call) return
  const word = [1, 2].includes(action.at % 4) ? 'approve' : call.stage === 'client' ? 'toolResult' : 'reject'
  count(scene.world, `decided ${word}`)
  if (word === 'approve') watch(scene, session.approve(call.id))
  else if (word === 'reject') watch(scene, session.reject(call.id, 'no'))
  else watch(scene, session.toolResult(call.id, { data: action.at }))
}

/** Somebody else signs in: over the open pages, or after they were closed. */
function switchAccount(scene: Scene): void {
  const { device, world, action } = scene
  device.account = device.account === 'ada' ? 'bob' : 'ada'
  if (action.at % 2 === 0) for (const tab of [...device.tabs]) close({ ...scene, tab })
  else openTab(world, device, ++world.tabsOpened)
}

/** Milliseconds of virtual time, with all that happens meanwhile. */
export async function pass(world: World, ms: number, each: () => void): Promise<void> {
  const until = world.schedule.now() + ms
  while ((await world.schedule.step(until)) !== undefined) each()
}

function close(scene: Scene): void {
  const { tab, world } = scene
  void tab.chat.close().catch((thrown) => world.problems.push(`close threw ${thrown}`))
  world.schedule.post({ actor: tab.actor, label: 'close', delay: 50, run: () => kill(scene) })
}

const ACTIONS: Readonly<Record<ActionType, (scene: Scene, each: () => void) => void | Promise<void>>> = {
  send(scene) {
    const text = `question ${scene.world.ledger.length}`
    const whenBusy = scene.action.at % 9 === 0 ? ('interrupt' as const) : ('queue' as const)
    ask(scene, text, scene.session.send(text, { whenBusy }))
  },
  edit: (scene) =>
    onMessage(
      scene,
      ({ id }) => {
        const text = `question ${scene.world.ledger.length}`
        ask(scene, text, scene.session.edit(id, text))
      },
      ({ role, seq }) => role === 'user' && seq !== undefined,
    ),
  stop,
  regenerate: (scene) =>
    onMessage(
      scene,
      ({ id }) => watch(scene, scene.session.regenerate(id), (sent) => answered(scene, sent)),
      (message) => message.role === 'assistant' && isSettled(message),
    ),
  selectBranch: (scene) =>
    onMessage(scene, ({ id }) => {
      const branches = scene.session.branches(id)
      const chosen = branches[scene.action.at % Math.max(1, branches.length)]
      if (chosen) watch(scene, scene.session.selectBranch(chosen))
    }),
  rename: (scene) => watch(scene, scene.session.rename(`title ${scene.action.at}`)),
  delete(scene) {
    // Nobody else can know the id of a session that the server does not.
    if (!scene.world.truth.session(scene.session.id).state.cursor) return
    for (const asked of scene.world.ledger) if (asked.sessionId === scene.session.id) asked.discarded = true
    watch(scene, scene.session.delete())
  },
  retry: (scene) =>
    onMessage(
      scene,
      ({ id }) => watch(scene, scene.session.retry(id), (sent) => answered(scene, sent)),
      ({ status }) => status === 'failed' || status === 'interrupted',
    ),
  discard: (scene) =>
    onMessage(
      scene,
      ({ id, content: [block] }) => {
        const asked = scene.world.ledger.find(({ text }) => block?.type === 'text' && text === block.text)
        if (asked) asked.discarded = true
        watch(scene, scene.session.discard(id))
      },
      ({ role, seq }) => role === 'user' && seq === undefined,
    ),
  // Whatever the line says, it says to the caller.
  resync: ({ session }) => void session.resync().catch(() => undefined),
  loadOlder: ({ session }) => void session.loadOlder().catch(() => undefined),
  open({ world, device }) {
    if (device.tabs.length < 3) openTab(world, device, ++world.tabsOpened)
  },
  close,
  crash: kill,
  reload(scene) {
    const { tab, world, action } = scene
    tab.page.fire('pagehide')
    world.schedule.post({ actor: tab.actor, label: 'unload', delay: action.at % 20, run: () => kill(scene) })
  },
  hide: ({ tab, action }) => tab.page.show(action.at % 2 === 0),
  freeze({ tab, world }) {
    if (tab.actor.state === 'frozen') {
      tab.actor.state = 'running'
      tab.page.fire('resume')
      return
    }
    tab.page.fire('freeze')
    const frozen = () => {
      if (!world.healed) tab.actor.state = 'frozen'
      // Whoever was told that it is about to stand still is told that it goes on.
      else tab.page.fire('resume')
    }
    world.schedule.post({ actor: tab.actor, label: 'frozen', delay: 30, run: frozen })
  },
  async sleep({ world, device, action }, each) {
    const asleep = device.tabs.filter(({ actor }) => actor.state === 'running')
    for (const { actor } of asleep) {
      actor.state = 'frozen'
      world.network.gone(actor)
    }
    await pass(world, 1_000 * (1 + (action.at % 300)), each)
    for (const { actor, page } of asleep) {
      if (actor.state === 'frozen') actor.state = 'running'
      if (action.at % 2 === 0) page.fire('resume')
    }
  },
  offline({ world, tab, action }) {
    const online = action.at % 2 === 0
    world.network.line(tab.actor, online)
    // Browsers notice, or they do not.
    if (online || action.at % 3 === 0) tab.page.line(online)
  },
  async power({ world, device, action }) {
    for (const tab of [...device.tabs]) crash(world, tab)
    const lost = await device.disk.lose(action.at % 5)
    if (lost > 0) count(world, 'power lost relaxed commits')
    device.written.clear()
    device.claims.clear()
    openTab(world, device, ++world.tabsOpened)
  },
  kill: ({ world }) => world.server.kill(),
  killAt: ({ world, action }) => world.server.killAt(1 + (action.at % 60)),
  replace: ({ world }) => world.server.replace(),
  serve: ({ world }) => world.server.heal(),
  decide,
  account: switchAccount,
  backup: ({ world }) => world.server.backup(),
  restore: ({ world }) => restore(world),
  wait: ({ world, action }, each) => pass(world, [30, 300, 3_000, 40_000][action.at % 4] ?? 0, each),
}

/** Does something where it can be done. */
export async function act(world: World, action: Action, each: () => void): Promise<void> {
  const device = world.devices[action.device % world.devices.length]
  const tab = device?.tabs[action.tab % device.tabs.length]
  const session = tab?.sessions[action.session % tab.sessions.length]
  if (!device || !tab || !session) return
  count(world, `action ${action.type}`)
  await ACTIONS[action.type]({ world, device, tab, session, action }, each)
}
