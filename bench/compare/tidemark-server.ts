import { createChatHandler } from 'tidemark/server'
import { sqliteStore } from 'tidemark/server/sqlite'
import { type ScriptPiece, scriptedModel } from 'tidemark/testing'
import type { OpenBackend } from './backend.ts'
import { PIECES } from './story.ts'

/** Our own server, over SQLite in memory. */
export const tidemarkBackend: OpenBackend = ({ holdBefore, released }) => {
  const hold: ScriptPiece = { hold: released }
  const script: ScriptPiece[] = PIECES.flatMap((piece, at) => (at === holdBefore ? [hold, piece] : [piece]))
  if (holdBefore === PIECES.length) script.push(hold)
  const pace = () => new Promise<void>((resolve) => setTimeout(resolve, 2))
  const model = scriptedModel(() => script, { pace })
  const store = sqliteStore(':memory:')
  const handler = createChatHandler({ store, model, limits: { requests: { max: 10_000, per: 1000 } } })
  return {
    runs: () => model.calls.length,
    fetch: (request, path) => {
      const { search, origin } = new URL(request.url)
      return handler.fetch(new Request(`${origin}/${path}${search}`, request))
    },
    async close() {
      await handler.close()
      await store.close()
    },
  }
}
