import type { Channel, Locks, Platform } from '../../chat/platform.ts'
import type { Actor, Schedule } from './schedule.ts'

/** A tab's page, with what a test can do to it. */
export interface SimulatedPage {
  readonly platform: Platform
  /** Milliseconds later everybody who listens hears of it: `online`, `pagehide`, `visibilitychange` and so on. */
  fire(type: string): void
  show(visible: boolean): void
  line(online: boolean): void
  /** Listeners that were added and not taken away. */
  listeners(): number
  /** Frees what the page held, after its actor was killed: its locks and channels. */
  gone(): void
}

/** What the tabs of one browser profile share: locks and channels. */
export interface Origin {
  page(actor: Actor): SimulatedPage
}

interface Request {
  actor: Actor
  name: string
  held(lock?: unknown): Promise<unknown>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

/** What was to be had at once, and was not. */
function missed(schedule: Schedule, { actor, name, held, resolve, reject }: Request): void {
  schedule.post({ actor, label: `no lock ${name}`, run: () => void held(null).then(resolve, reject) })
}

/** Web Locks: first come, first served, but for those who steal; a page that is gone holds nothing. */
function createLocks(schedule: Schedule) {
  const holders = new Map<string, Request>()
  let queue: Request[] = []

  function release(request: Request): void {
    if (holders.get(request.name) === request) holders.delete(request.name)
    const next = queue.find(({ name }) => name === request.name)
    if (next && !holders.has(request.name)) grant(next)
  }
  function grant(request: Request): void {
    queue = queue.filter((other) => other !== request)
    holders.set(request.name, request)
    const { actor, name, held, resolve, reject } = request
    const end = () => release(request)
    const run = () => void held().finally(end).then(resolve, reject)
    schedule.post({ actor, label: `lock ${name}`, run })
  }
  function steal(request: Request): void {
    const { name } = request
    const robbed = holders.get(name)
    const run = () => robbed?.reject(new DOMException('stolen', 'AbortError'))
    if (robbed) schedule.post({ actor: robbed.actor, label: `robbed of ${name}`, run })
    grant(request)
  }
  function wait(request: Request, signal: AbortSignal): void {
    const leave = () => {
      if (queue.includes(request)) request.reject(signal.reason)
      queue = queue.filter((other) => other !== request)
    }
    queue.push(request)
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    else if (!holders.has(request.name)) grant(request)
  }
  const locksOf = (actor: Actor): Locks => ({
    request: (name, options, held) =>
      new Promise((resolve, reject) => {
        const request: Request = { actor, name, held, resolve, reject }
        if ('steal' in options) steal(request)
        else if ('ifAvailable' in options && holders.has(name)) missed(schedule, request)
        else if ('ifAvailable' in options) grant(request)
        else wait(request, options.signal)
      }),
  })
  const leave = (actor: Actor) => {
    queue = queue.filter((request) => request.actor !== actor)
    for (const request of [...holders.values()]) if (request.actor === actor) release(request)
  }
  return { locksOf, leave }
}

interface Ear extends Channel {
  actor: Actor
  name: string
}

/** BroadcastChannel: everybody else of that name hears it, in order. */
function createChannels(schedule: Schedule) {
  const ears = new Set<Ear>()
  let opened = 0
  const open = (actor: Actor, name: string): Channel => {
    const number = ++opened
    const own: Ear = {
      actor,
      name,
      onmessage: null,
      postMessage(message) {
        const data = structuredClone(message)
        for (const ear of ears)
          if (ear !== own && ear.name === name)
            schedule.post({
              actor: ear.actor,
              label: `hear ${name}`,
              delay: schedule.chance.int(3),
              lane: `channel ${number} ${ear.actor.name}`,
              run() {
                if (ears.has(ear)) ear.onmessage?.(new MessageEvent('message', { data }))
              },
            })
      },
      close: () => void ears.delete(own),
    }
    ears.add(own)
    return own
  }
  const leave = (actor: Actor) => {
    for (const ear of ears) if (ear.actor === actor) ears.delete(ear)
  }
  return { open, leave }
}

type Listener = EventListenerOrEventListenerObject | null

/** Whom a page's events reach. */
function createTarget() {
  const listeners = new Set<{ type: string; listener: Listener }>()
  return {
    listeners,
    addEventListener(type: string, listener: Listener) {
      listeners.add({ type, listener })
    },
    removeEventListener(type: string, listener: Listener) {
      for (const entry of listeners)
        if (entry.type === type && entry.listener === listener) listeners.delete(entry)
    },
    dispatch(type: string) {
      for (const entry of [...listeners])
        if (entry.type === type && typeof entry.listener === 'function') entry.listener(new Event(type))
    },
  }
}

/** Milliseconds between two frames. */
const FRAME = 16

interface Surroundings {
  schedule: Schedule
  actor: Actor
  target: ReturnType<typeof createTarget>
  state: { visible: boolean; online: boolean }
  locks: Locks | undefined
  open(name: string): Channel
}

function platformOf({ schedule, actor, target, state, locks, open }: Surroundings): Platform {
  const { addEventListener, removeEventListener } = target
  const later = (run: () => void, delay: number) => schedule.post({ actor, label: 'frame', delay, run })
  return {
    addEventListener,
    removeEventListener,
    document: {
      addEventListener,
      removeEventListener,
      get visibilityState() {
        return state.visible ? ('visible' as const) : ('hidden' as const)
      },
    },
    navigator: {
      get onLine() {
        return state.online
      },
      ...(locks && { locks }),
    },
    BroadcastChannel: function opened(name: string) {
      return open(name)
    } as unknown as NonNullable<Platform['BroadcastChannel']>,
    setTimeout: later,
    requestAnimationFrame(callback) {
      if (state.visible) later(callback, FRAME)
      return 0
    },
  }
}

/**
 * A browser profile: pages opened in it share locks and channels, and nothing else.
 * @param options.locks whether the browser has Web Locks. @default true
 */
export function createOrigin(schedule: Schedule, { locks: hasLocks = true } = {}): Origin {
  const locks = createLocks(schedule)
  const channels = createChannels(schedule)
  return {
    page(actor) {
      const target = createTarget()
      const state = { visible: true, online: true }
      const fire = (type: string) =>
        void schedule.post({ actor, label: type, run: () => target.dispatch(type) })
      return {
        platform: platformOf({
          schedule,
          actor,
          target,
          state,
          locks: hasLocks ? locks.locksOf(actor) : undefined,
          open: (name) => channels.open(actor, name),
        }),
        fire,
        show(visible) {
          if (state.visible === visible) return
          state.visible = visible
          actor.clamp = visible ? 0 : 1_000
          fire('visibilitychange')
        },
        line(online) {
          if (state.online === online) return
          state.online = online
          fire(online ? 'online' : 'offline')
        },
        listeners: () => target.listeners.size,
        gone() {
          locks.leave(actor)
          channels.leave(actor)
        },
      }
    },
  }
}
