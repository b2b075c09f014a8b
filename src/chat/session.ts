import type { CallRecord } from '../context/call-record.ts'
import type { ContextView } from '../context/view.ts'
import { siblingsOf } from '../message/tree.ts'
import { idIn, messagesOf } from '../protocol/state.ts'
import {
  type ActionDeps,
  approve,
  deleteSession,
  discard,
  edit,
  regenerate,
  reject,
  rename,
  retry,
  selectBranch,
  send,
  stop,
  toolResult,
} from './actions.ts'
import { type Core, snapshotOf, subscribe } from './core.ts'
import { messageStore } from './message-store.ts'
import type { ChatSession } from './types.ts'

export interface SessionDeps extends ActionDeps {
  loadOlder(): Promise<void>
  resync(): Promise<void>
  takeOver(): Promise<void>
  context(): Promise<ContextView>
  calls(): Promise<readonly CallRecord[]>
}

/** A session as its users see it. */
export const createSession = (core: Core, deps: SessionDeps): ChatSession => ({
  id: core.id,
  get: () => snapshotOf(core),
  subscribe: (listener) => subscribe(core, listener),
  message: (id) => messageStore(core, id),
  send: (input, options = {}) => send(core, deps, input, options),
  stop: () => stop(core, deps),
  retry: (messageId) => retry(core, deps, messageId),
  regenerate: (messageId) => regenerate(core, deps, messageId),
  continue: (messageId) => regenerate(core, deps, messageId, 'continue'),
  edit: (messageId, input) => edit(core, deps, messageId, input),
  approve: (callId, options = {}) => approve(core, deps, callId, options),
  reject: (callId, reason) => reject(core, deps, callId, reason),
  toolResult: (callId, result) => toolResult(core, deps, callId, result),
  branches: (messageId) =>
    siblingsOf(messagesOf(core.state), idIn(core.state, messageId)).map(({ id }) => id),
  selectBranch: (messageId) => selectBranch(core, deps, messageId),
  discard: (messageId) => discard(core, deps, messageId),
  loadOlder: deps.loadOlder,
  resync: deps.resync,
  takeOver: deps.takeOver,
  context: deps.context,
  calls: deps.calls,
  rename: (title) => rename(core, deps, title),
  delete: () => deleteSession(core, deps),
})
