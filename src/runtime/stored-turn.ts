import type { RuntimeHost } from '../chat/runtime-port.ts'
import type { AssistantMessage, Message } from '../message/schema.ts'
import { openGate } from '../turn/gate.ts'
import { nextStep } from '../turn/next.ts'
import type { Bell } from './bell.ts'

/** A run, as far as it is told to whoever drives it. */
export interface TurnOf {
  sessionId: string
  runId: string
  history: readonly Message[]
  assistantId?: string | undefined
  /** What the run has made already. */
  trail?: readonly Message[]
  resumed?: AssistantMessage
  continues?: AssistantMessage
}

/** A run as it is stored, from its question to its end so far. */
export async function turnOfRun(
  host: RuntimeHost,
  sessionId: string,
  runId: string,
): Promise<Required<Pick<TurnOf, 'history' | 'trail'>>> {
  const last = host.answers(sessionId, runId).at(-1)
  const path = last ? await host.history(sessionId, last.id) : []
  const from = path.findIndex((message) => message.role === 'assistant' && message.runId === runId)
  return from < 0 ? { history: path, trail: [] } : { history: path.slice(0, from), trail: path.slice(from) }
}

/** Waits until something is to be done about a run's calls. */
export async function decision(
  { host, turnOf, abort }: { host: RuntimeHost; turnOf: TurnOf; abort: AbortController },
  bell: Bell,
): Promise<TurnOf> {
  const gate = openGate(abort.signal)
  const timer = new AbortController()
  try {
    for (;;) {
      const rung = bell.rung()
      const { history, trail } = await turnOfRun(host, turnOf.sessionId, turnOf.runId)
      const now = host.env.now()
      const step = nextStep({ trail, maxSteps: Number.POSITIVE_INFINITY, stopped: abort.signal.aborted, now })
      if (step.type !== 'wait') return { ...turnOf, history, trail, assistantId: undefined }
      const ends = trail.flatMap((message) => (message.role === 'tool' && message.expiresAt) || [])
      const wait = ends.length > 0 ? [host.env.sleep(Math.min(...ends) - now, timer.signal)] : []
      await gate.race(Promise.race([rung, ...wait]))
    }
  } finally {
    timer.abort()
    gate.close()
  }
}

/** How far a run has come: what it made, without the names. */
export const standOf = (trail: readonly Message[]): string =>
  trail.map((message) => `${message.status} ${'stage' in message && message.stage}`).join()
