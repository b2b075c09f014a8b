import type { Store } from 'tidemark'
import { readKept, writeKept } from './kept.ts'

export const RUNTIMES = ['remote', 'direct'] as const
/** Who runs the turn: the server, or this page. */
export type RuntimeName = (typeof RUNTIMES)[number]

/** What the address bar says: `#/remote/<session id>`. */
export interface Route {
  runtime: RuntimeName
  sessionId: string
}

export interface Router extends Store<Route> {
  go(route: Route): void
  /** Back to where this runtime was left, or to a new session. */
  goTo(runtime: RuntimeName): void
}

const HASH = /^#\/(remote|direct)(?:\/([A-Za-z0-9_-]{1,64}))?$/

export const hashOf = (route: Route): string => `#/${route.runtime}/${route.sessionId}`

/** The address of another session over the runtime that is shown. */
export const hashFor = (sessionId: string): string =>
  location.hash.replace(HASH, (_, runtime) => `#/${runtime}/${sessionId}`)

/**
 * The address bar as a store. It always names a session: an address without one gets the session that was open last,
 * and where there is none, a new id.
 */
export function createRouter(createId: (runtime: RuntimeName) => string): Router {
  const lastOf = (runtime: RuntimeName) => {
    const kept = readKept(`last.${runtime}`)
    return kept && HASH.test(`#/${runtime}/${kept}`) ? kept : createId(runtime)
  }
  const read = (): Route => {
    const [, named, sessionId] = HASH.exec(location.hash) ?? []
    const wanted = named ?? readKept('runtime')
    const runtime = RUNTIMES.find((name) => name === wanted) ?? 'remote'
    return { runtime, sessionId: sessionId ?? lastOf(runtime) }
  }
  const listeners = new Set<() => void>()
  const settle = (route: Route): Route => {
    if (location.hash !== hashOf(route)) history.replaceState(null, '', hashOf(route))
    writeKept('runtime', route.runtime)
    writeKept(`last.${route.runtime}`, route.sessionId)
    return route
  }
  let route = settle(read())
  const look = () => {
    const next = settle(read())
    if (hashOf(next) === hashOf(route)) return
    route = next
    for (const listener of listeners) listener()
  }
  window.addEventListener('hashchange', look)
  // Looked at at once: the event comes later, and a radio button would fall back until then.
  const go = (next: Route) => {
    location.assign(hashOf(next))
    look()
  }
  return {
    get: () => route,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    go,
    goTo: (runtime) => go({ runtime, sessionId: lastOf(runtime) }),
  }
}
