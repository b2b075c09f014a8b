import type { Env } from '../../src/lib/env.ts'
import type { EventRow, HistoryStore, RunRow } from '../../src/server/ports.ts'
import type { Tool } from '../../src/turn/tool.ts'
import type { Plant } from './planted.ts'

/** A lease that is never lost, as far as its holder knows. */
function keptLeases(store: HistoryStore, hit: () => void): HistoryStore {
  const held = new Map<string, RunRow>()
  return {
    ...store,
    transact: (scope, needs, decide, options) =>
      store.transact(
        scope,
        needs,
        (view) => {
          if (view.active) held.set(scope.sessionId, view.active)
          const kept = held.get(scope.sessionId)
          // Only what a producer writes is looked at so: it asks for no key and no run.
          if (view.active || !kept || needs.key || needs.runs || needs.unsettled) return decide(view)
          hit()
          return decide({ ...view, active: kept, runs: new Map([...view.runs, [kept.id, kept]]) })
        },
        options,
      ),
  }
}

/** Milliseconds that pass between what is told and its commit. */
const EARLY = 60

/** Events are in the log before their transaction is: what is told then is decided once more, and may come otherwise. */
function toldEarly(store: HistoryStore, env: Env, hit: () => void): HistoryStore {
  const { log } = store
  if (!log) throw new Error('the store has no log of its own')
  const early = new Map<string, EventRow[]>()
  return {
    ...store,
    async transact(scope, needs, decide, options) {
      const told: EventRow[] = []
      try {
        for (const change of decide(await store.read(scope, needs)).changes)
          if (change.type === 'event') told.push(change.row)
      } catch {
        // Refused: that tells of nothing.
      }
      if (told.length > 0) {
        hit()
        early.set(scope.sessionId, told)
        await env.sleep(EARLY)
        early.delete(scope.sessionId)
      }
      return store.transact(scope, needs, decide, options)
    },
    log: {
      ...log,
      async read(sessionId, after, limit) {
        const page = await log.read(sessionId, after, limit)
        const news = (early.get(sessionId) ?? []).filter(({ id }) => id.n > page.tail && id.n > after)
        const tail = news.at(-1)?.id.n ?? page.tail
        return page.entries.length === limit ? page : { entries: [...page.entries, ...news], tail }
      },
    },
  }
}

/** A tool that does its work twice for one call. */
const twice = (tool: Tool, hit: () => void): Tool => {
  const { execute } = tool
  if (!execute) return tool
  return {
    ...tool,
    async execute(...given) {
      hit()
      await execute(...given)
      return execute(...given)
    },
  }
}

/** Faults that are planted between the server and its store. */
export const PLANTED_SERVER: Readonly<Record<string, Plant>> = {
  'a lost lease writes on': (hit) => ({ store: (store) => keptLeases(store, hit) }),
  'a call is executed twice': (hit) => ({ tool: (tool) => twice(tool, hit) }),
  'an event is told before it is committed': (hit) => ({ store: (store, env) => toldEarly(store, env, hit) }),
}
