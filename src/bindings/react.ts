import { useSyncExternalStore } from 'react'
import type { ChatSession, SessionSnapshot } from '../chat/types.ts'
import type { Store } from '../lib/cell.ts'
import type { Message } from '../message/schema.ts'

/**
 * The present value of a store (`chat.sessions`, `chat.health`, any other); the component renders again when it changes.
 * On the server, and for the first render of a hydration, it is the store's value at that moment.
 */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get, store.get)
}

/** What a session looks like now. A component that lists messages should leave each row's content to {@link useMessage}. */
export function useSession(session: Store<SessionSnapshot>): SessionSnapshot {
  return useStore(session)
}

/**
 * One message of a session, or undefined while there is none of that id. A component that reads it renders
 * for this message only: while an answer streams, one row of a list renders and the others do not.
 */
export function useMessage(session: Pick<ChatSession, 'message'>, id: string): Message | undefined {
  return useStore(session.message(id))
}
