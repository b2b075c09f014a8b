import type { CallWord } from '../protocol/commands.ts'
import { callOf, waitingIn } from './calls.ts'
import type { Core } from './core.ts'
import type { Runtime } from './runtime-port.ts'

/** Looks for calls that the server leaves to this page, and executes them. */
export type Serving = () => void

/**
 * Serves the calls of a session for as long as this tab leads it. A call is looked at once; whoever leads next looks again, and
 * the runtime knows what was executed.
 * @param shared whether every tab leads
 * @param say puts into the outbox what is said of a call
 */
export function createServing(
  core: Core,
  serve: NonNullable<Runtime['serve']>,
  say: (messageId: string, word: CallWord) => Promise<void>,
  lost: AbortSignal,
  shared: boolean,
): Serving {
  const served = new Map<string, AbortController>()
  lost.addEventListener('abort', () => {
    for (const flight of served.values()) flight.abort()
  })
  return () => {
    const waiting = waitingIn(core.state).filter(({ stage }) => stage === 'client')
    const ids = new Set(waiting.map(({ id }) => id))
    for (const [id, flight] of served)
      if (!ids.has(id)) {
        // Somebody else answered it, or the run was stopped.
        flight.abort()
        served.delete(id)
      }
    for (const message of waiting) {
      const found = served.has(message.id) ? undefined : callOf(core.state, message)
      if (!found || isAnswered(core, message.id)) continue
      const flight = new AbortController()
      served.set(message.id, flight)
      const { signal } = flight
      serve({ ...found, message, signal, shared })
        .then((word) => (word && !signal.aborted ? say(message.id, word) : undefined))
        // It was answered meanwhile, or the chat was closed.
        .catch(() => undefined)
    }
  }
}

/** Whether what is said of a call waits to be sent. */
const isAnswered = ({ outbox }: Core, messageId: string): boolean =>
  [...outbox.values()].some(
    ({ request }) =>
      request.type === 'command' && 'messageId' in request.body && request.body.messageId === messageId,
  )
