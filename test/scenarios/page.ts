import type { Channel, Platform } from '../../src/chat/platform.ts'

interface Holder {
  release(reason?: unknown): void
}

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
  /** Frozen: what others say waits for the thaw. */
  frozen: boolean
  thaw(): void
}

type Request = (
  name: string,
  options: { signal?: AbortSignal; steal?: boolean },
  held: () => Promise<unknown>,
) => Promise<unknown>

/** Web Locks as far as tabs use them: exclusive, in the order of asking; given up by abort, taken by force. */
export function createLocks(): { request: Request } {
  const holders = new Map<string, Holder>()
  const queues = new Map<string, (() => void)[]>()
  const next = (name: string) => {
    if (!holders.has(name)) queues.get(name)?.shift()?.()
  }
  const request: Request = (name, { signal, steal }, held) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const grant = () => {
        signal?.removeEventListener('abort', onAbort)
        const own: Holder = { release: reject }
        holders.set(name, own)
        const end = () => {
          if (holders.get(name) !== own) return
          holders.delete(name)
          next(name)
        }
        Promise.resolve().then(held).then(resolve, reject).finally(end)
      }
      const onAbort = () => {
        const queue = queues.get(name) ?? []
        queues.set(
          name,
          queue.filter((waiting) => waiting !== grant),
        )
        reject(signal?.reason)
      }
      if (steal) {
        const robbed = holders.get(name)
        grant()
        robbed?.release(new DOMException('stolen', 'AbortError'))
        return
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      queues.set(name, [...(queues.get(name) ?? []), grant])
      next(name)
    })
  return { request }
}

interface Ear {
  name: string
  page: Page
  hear(message: unknown): void
}

/** What is on its way to a frozen page. */
type Held = WeakMap<Page, (() => void)[]>

/** The channels of one page: what is said arrives soon, in a frozen page once it thaws. */
function channelOf(page: () => Page, ears: Set<Ear>, held: Held): new (name: string) => Channel {
  return class implements Channel {
    onmessage: Channel['onmessage'] = null
    private readonly ear: Ear
    constructor(name: string) {
      const hear = (data: unknown) => this.onmessage?.(new MessageEvent('message', { data }))
      this.ear = { name, page: page(), hear }
      ears.add(this.ear)
    }
    postMessage(message: unknown) {
      const said = structuredClone(message)
      for (const ear of [...ears]) {
        if (ear === this.ear || ear.name !== this.ear.name) continue
        const tell = () => ears.has(ear) && ear.hear(said)
        setImmediate(() => (ear.page.frozen ? held.get(ear.page)?.push(tell) : tell()))
      }
    }
    close() {
      ears.delete(this.ear)
    }
  }
}

function createPage(locks: { request: Request } | undefined, ears: Set<Ear>, held: Held): Page {
  const target = new EventTarget()
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  const page: Page = {
    platform: {
      addEventListener: target.addEventListener.bind(target),
      removeEventListener: target.removeEventListener.bind(target),
      document,
      navigator: { onLine: true, ...(locks && { locks }) },
      BroadcastChannel: channelOf(() => page, ears, held),
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
    frozen: false,
    thaw() {
      page.frozen = false
      for (const tell of held.get(page)?.splice(0) ?? []) tell()
    },
  }
  held.set(page, [])
  return page
}

export function createBrowser({ locks: hasLocks = true } = {}): Browser {
  const locks = createLocks()
  const ears = new Set<Ear>()
  const held: Held = new WeakMap()
  return { page: () => createPage(hasLocks ? locks : undefined, ears, held) }
}
