import { idIn, messageOf } from '../protocol/state.ts'
import type { Appended, Core } from './core.ts'
import { tell, tellAll } from './tell.ts'
import type { MessageStore } from './types.ts'

type Listener = () => void

/** One message's store; the same object for the same id. */
export function messageStore(core: Core, id: string): MessageStore {
  const { messages } = core.watchers
  const present = messages.get(id)
  if (present) return present.store
  const listeners = new Set<Listener>()
  const appended = new Set<(piece: Appended) => void>()
  const store: MessageStore = {
    get: () => core.frozen.get(id) ?? messageOf(core.state, idIn(core.state, id)),
    subscribe(listener) {
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
    onAppend(listener) {
      const own = ({ index, offset, text }: Appended) => listener({ index, offset, text })
      appended.add(own)
      return () => appended.delete(own)
    },
  }
  messages.set(id, {
    store,
    notify: () => tellAll(listeners),
    append: (piece) => {
      for (const listener of [...appended]) if (appended.has(listener)) tell(() => listener(piece))
    },
  })
  return store
}
