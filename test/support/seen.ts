import type { ChatSession } from '../../src/chat/types.ts'

/** Resolves once something holds of a store. */
export const seen = (store: Pick<ChatSession, 'subscribe'>, condition: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (!condition()) return
      end()
      resolve()
    }
    const end = store.subscribe(look)
    look()
  })
