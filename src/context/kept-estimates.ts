import type { Message } from '../message/schema.ts'
import type { Estimator } from './estimate.ts'

/** How many estimates are kept by name, and how many texts. */
const MOST_MESSAGES = 50_000
const MOST_TEXTS = 64

/** Forgets the oldest entries beyond a number. */
function keepNewest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

/**
 * The same estimates, each made once: kept by the message itself, and by its id and revision, so that a message that was read
 * again is known again. For estimators whose answers do not change; one that learns is to be wrapped anew.
 */
export function keptEstimates(
  estimate: Pick<Estimator, 'text' | 'message'>,
): Pick<Estimator, 'text' | 'message'> {
  const byMessage = new WeakMap<Message, number>()
  const byRevision = new Map<string, { rev: number; tokens: number }>()
  const byText = new Map<string, number>()

  function known({ sessionId, id, rev }: Message): number | undefined {
    const kept = rev === undefined ? undefined : byRevision.get(`${sessionId}/${id}`)
    return kept?.rev === rev ? kept?.tokens : undefined
  }

  return {
    text(text) {
      const kept = byText.get(text)
      if (kept !== undefined) return kept
      const tokens = estimate.text(text)
      byText.set(text, tokens)
      keepNewest(byText, MOST_TEXTS)
      return tokens
    },
    message(message) {
      const kept = byMessage.get(message)
      if (kept !== undefined) return kept
      const tokens = known(message) ?? estimate.message(message)
      byMessage.set(message, tokens)
      if (message.rev !== undefined) {
        byRevision.set(`${message.sessionId}/${message.id}`, { rev: message.rev, tokens })
        keepNewest(byRevision, MOST_MESSAGES)
      }
      return tokens
    },
  }
}
