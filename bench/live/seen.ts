import type { ChatSession } from 'tidemark'

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
