import type { Change, ChatStorage, CommitOptions } from '../../../src/chat/ports.ts'
import { isSettled, type ToolMessage } from '../../../src/message/schema.ts'
import type { Decision, HistoryStore, View } from '../../../src/server/ports.ts'
import { failure } from '../../../src/turn/result.ts'
import { WIDE } from './plan.ts'
import type { Place, Planted } from './world.ts'

/** A mistake, made on purpose. `hit` notes each time that it is made. */
export type Plant = (hit: () => void) => Planted

const isToolRun = (change: Change): boolean => change.type === 'record' && change.record.kind === 'toolRun'

const isNewQuestion = (change: Change): boolean =>
  change.type === 'outbox' && change.row.request.type === 'send' && change.row.attempts === 0

type Commit = ChatStorage['commit']

const commits =
  (made: (commit: Commit, hit: () => void) => Commit): Plant =>
  (hit) => ({
    storage: (storage) => ({ ...storage, commit: made(storage.commit, hit) }),
  })

/** The message of a call, where a change writes one. */
const callIn = (change: Change): ToolMessage | undefined =>
  change.type === 'message' && change.row.message.role === 'tool' ? change.row.message : undefined

/** The result of the first of several calls is written after that of the next. */
function lastFirst(commit: Commit, hit: () => void): Commit {
  let held: Change | undefined
  /** Calls that are being executed, in their order. */
  const begun = new Set<string>()
  return async (changes: readonly Change[], options?: CommitOptions) => {
    const kept: Change[] = []
    for (const change of changes) {
      const call = callIn(change)
      if (call?.stage === 'started') begun.add(call.id)
      const isResult = call !== undefined && begun.delete(call.id) && isSettled(call)
      if (isResult && !held && begun.size > 0) {
        hit()
        held = change
      } else kept.push(change)
      if (call?.stage === 'started') begun.add(call.id)
    }
    await commit(kept, options)
    if (!held || begun.size > 0) return
    const due = held
    held = undefined
    await commit([due])
  }
}

/** What was said of a call last is what counts. */
function lastWord(store: HistoryStore, hit: () => void): HistoryStore {
  const asked = new Map<string, ToolMessage>()
  const again = (view: View): View => {
    const messages = new Map(view.messages)
    for (const [id, row] of messages) {
      const { message } = row
      const before = asked.get(id)
      if (message.role === 'tool' && message.stage === 'approval') asked.set(id, message)
      else if (before && message.role === 'tool' && (message.stage === 'approved' || isSettled(message))) {
        hit()
        messages.set(id, { ...row, message: { ...before, rev: message.rev ?? 0 } })
      }
    }
    return { ...view, messages }
  }
  return {
    ...store,
    transact: (scope, needs, decide, options) =>
      store.transact(
        scope,
        needs,
        (view): Decision<never> => decide(needs.key ? again(view) : view) as never,
        options,
      ),
  }
}

/** Nobody remembers that an execution was begun. */
const forgetful: Plant = (hit) => ({
  storage: (storage) => ({
    ...storage,
    // What is read after a crash does not say that it was begun.
    records: async (kind, query) => (kind === 'toolRun' ? [] : storage.records(kind, query)),
    async commit(changes, options) {
      if (!changes.some(isToolRun)) return storage.commit(changes, options)
      hit()
    },
  }),
})

/** Planted faults, by what is wrong: where, and the seed from which on it is looked for. */
export const PLANTED: Readonly<Record<string, readonly [Place, Plant, from?: number]>> = {
  'the record of an execution is ignored': [
    'direct',
    commits((commit, hit) => (changes, options) => {
      if (!changes.some(isToolRun)) return commit(changes, options)
      hit()
      return commit(changes, { ...options, guards: [] })
    }),
  ],
  'a call that was begun is executed again after a crash': ['direct', forgetful],
  'a call is executed before that is stored': [
    'direct',
    commits((commit, hit) => async (changes, options) => {
      if (!changes.some((change) => isToolRun(change) || callIn(change)?.stage === 'started'))
        return commit(changes, options)
      hit()
      commit(changes, options).catch(() => undefined)
    }),
  ],
  'a call that was cut off is taken for one that may be repeated': [
    'direct',
    (hit) => ({
      tool(tool) {
        if (!tool.idempotent) hit()
        return { ...tool, idempotent: true }
      },
    }),
  ],
  'an approval is never asked for': [
    'direct',
    (hit) => ({
      tool: (tool) => ({
        ...tool,
        async needsApproval() {
          hit()
          return false
        },
      }),
    }),
  ],
  'a call that was executed is said not to have been': [
    'direct',
    (hit) => ({
      tool: ({ execute, ...tool }) => ({
        ...tool,
        ...(execute && {
          async execute(...given) {
            await execute(...given)
            hit()
            return failure('the tool was not executed')
          },
        }),
      }),
    }),
  ],
  'results are stored in another order than that of their calls': ['direct', commits(lastFirst)],
  'a second decision overwrites the first': [
    'remote',
    (hit) => ({ store: (store) => lastWord(store, hit) }),
    12,
  ],
  'a call that was cut off is executed again by the next process of the server': [
    'remote',
    (hit) => ({
      tool(tool) {
        if (!tool.idempotent) hit()
        return { ...tool, idempotent: true }
      },
    }),
    20,
  ],
  'a call that a page had begun is executed again when it is back': ['remote', forgetful, WIDE],
  'a session that was taken over does not say so': [
    'direct',
    commits((commit, hit) => (changes, options) => {
      const silent = changes.map((change): Change => {
        if (change.type !== 'session' || !change.row.term) return change
        hit()
        return { ...change, row: { ...change.row, term: 0 } }
      })
      return commit(silent, options)
    }),
    WIDE,
  ],
  'a question is said to be on a disk before it is': [
    'direct',
    commits((commit, hit) => async (changes, options) => {
      const done = commit(changes, options)
      if (!changes.some(isNewQuestion)) return done
      hit()
      done.catch(() => undefined)
    }),
  ],
}
