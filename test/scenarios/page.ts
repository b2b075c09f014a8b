import type { Channel, Locks, Platform } from '../../src/chat/platform.ts'

/** A browser: what its pages share. */
export interface Browser {
  /** A new page of it. */
  page(): Page
}

/** A page as a chat knows it, in the hands of a test. */
export interface Page {
  readonly platform: Platform & { document: { visibilityState: DocumentVisibilityState } }
  /** Says `online`, `pageshow`, … to the window. */
  window(type: string): void
  /** Says `freeze`, `resume`, … to the document. */
  document(type: string): void
  /** Hidden or visible, and told so. */
  show(state: DocumentVisibilityState): void
}

type Request = Locks['request']

/** Web Locks as far as tabs use them: exclusive, in the order of asking; given up by abort, or taken by who steals. */
export function createLocks(): { request: Request } {
  const held = new Map<string, (reason: unknown) => void>()
  const queues = new Map<string, (() => void)[]>()
  const next = (name: string) => {
    if (!held.has(name)) queues.get(name)?.shift()?.()
  }
  const request: Request = (name, options, use) =>
    new Promise((resolve, reject) => {
      const signal = 'signal' in options ? options.signal : new AbortController().signal
      if (signal.aborted) return reject(signal.reason)
      const onAbort = () => {
        const queue = queues.get(name) ?? []
        queues.set(
          name,
          queue.filter((waiting) => waiting !== grant),
        )
        reject(signal.reason)
      }
      const grant = () => {
        signal.removeEventListener('abort', onAbort)
        held.set(name, reject)
        const end = () => {
          if (held.get(name) !== reject) return
          held.delete(name)
          next(name)
        }
        Promise.resolve({}).then(use).then(resolve, reject).finally(end)
      }
      if ('ifAvailable' in options)
        return held.has(name) ? void Promise.resolve(null).then(use).then(resolve, reject) : grant()
      if ('steal' in options) {
        held.get(name)?.(new DOMException('stolen', 'AbortError'))
        return grant()
      }
      signal.addEventListener('abort', onAbort, { once: true })
      queues.set(name, [...(queues.get(name) ?? []), grant])
      next(name)
    })
  return { request }
}

interface Ear {
  name: string
  hear(message: unknown): void
}

/** The channels of one page: what is said arrives soon. */
function channelOf(ears: Set<Ear>): new (name: string) => Channel {
  return class implements Channel {
    onmessage: Channel['onmessage'] = null
    private readonly ear: Ear
    constructor(name: string) {
      const hear = (data: unknown) => this.onmessage?.(new MessageEvent('message', { data }))
      this.ear = { name, hear }
      ears.add(this.ear)
    }
    postMessage(message: unknown) {
      const said = structuredClone(message)
      for (const ear of [...ears]) {
        if (ear === this.ear || ear.name !== this.ear.name) continue
        setImmediate(() => ears.has(ear) && ear.hear(said))
      }
    }
    close() {
      ears.delete(this.ear)
    }
  }
}

function createPage(locks: { request: Request } | undefined, ears: Set<Ear>): Page {
  const target = new EventTarget()
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  return {
    platform: {
      addEventListener: target.addEventListener.bind(target),
      removeEventListener: target.removeEventListener.bind(target),
      document,
      navigator: { onLine: true, ...(locks && { locks }) },
      BroadcastChannel: channelOf(ears),
      requestAnimationFrame: (callback) => Number(setImmediate(callback).hasRef()),
      cancelAnimationFrame: () => {},
      setTimeout: (callback) => setImmediate(callback),
    },
    window: (type) => target.dispatchEvent(new Event(type)),
    document: (type) => document.dispatchEvent(new Event(type)),
    show(state) {
      document.visibilityState = state
      document.dispatchEvent(new Event('visibilitychange'))
    },
  }
}

export function createBrowser({ locks: hasLocks = true } = {}): Browser {
  const locks = createLocks()
  const ears = new Set<Ear>()
  return { page: () => createPage(hasLocks ? locks : undefined, ears) }
}
