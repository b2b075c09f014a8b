import { useEffect, useState } from 'react'
import { type CallRecord, type ChatSession, type SessionSnapshot, TidemarkError } from 'tidemark'

/** One decision over a message. */
export interface Decision {
  id: string
  sent: boolean
  reason: string | undefined
  tokens: number | undefined
}

/** What a model gets to see, or got to see. */
export interface Seen {
  decisions: readonly Decision[]
  /** Messages that stayed out and are not listed. */
  more: number
  estimated: number | undefined
  before: number | undefined
  sections: readonly { name: string; tokens: number }[]
  policies: readonly string[]
  redacted: number
}

export interface Inspection {
  /** What would be sent now; undefined where a server decides that. */
  now: Seen | undefined
  /** The oldest first. */
  calls: readonly CallRecord[]
  /** Why something is not known. */
  problem: string | undefined
}

const NOTHING: Inspection = { now: undefined, calls: [], problem: undefined }

interface Given {
  included?: readonly { id: string; reason?: string | undefined; tokens?: number | undefined }[] | undefined
  dropped?: readonly { id: string; reason?: string | undefined; tokens?: number | undefined }[] | undefined
}

function decisionsOf({ included = [], dropped = [] }: Given): Decision[] {
  const sent = included.map(({ id, reason, tokens }) => ({ id, sent: true, reason, tokens }))
  const out = dropped.map(({ id, reason, tokens }) => ({ id, sent: false, reason, tokens }))
  return [...out, ...sent]
}

/** What was sent with a call; undefined where an answer was gone on with. */
export function seenIn({ sent }: CallRecord): Seen | undefined {
  if (!sent) return undefined
  const { estimated, before, sections = [], policies = [], redacted = 0, left, dropped } = sent
  const more = left - dropped.length
  return { decisions: decisionsOf(sent), more, estimated, before, sections, policies, redacted }
}

/** Of a server that decides itself, nothing is known now. */
async function seenNow(session: ChatSession): Promise<Seen | undefined> {
  try {
    const view = await session.context()
    const sections = Object.entries(view.sections ?? {}).map(([name, tokens]) => ({ name, tokens }))
    const { tokens: estimated, before, policies = [], redacted = 0 } = view
    return { decisions: decisionsOf(view), more: 0, estimated, before, sections, policies, redacted }
  } catch (thrown) {
    if (thrown instanceof TidemarkError && thrown.code === 'not-found') return undefined
    throw thrown
  }
}

/** The record of a call is written beside its answer: it may be there a moment later. */
const LATER_MS = [0, 400, 1_500]

/** What the session's calls were given to see, and what the next one would be; looked at again when something was said. */
export function useInspection(session: ChatSession, { status, messages }: SessionSnapshot): Inspection {
  const [found, setFound] = useState(NOTHING)
  const last = messages.at(-1)
  const moment = `${status} ${messages.length} ${last?.id} ${last?.status}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: `moment` says that something was said
  useEffect(() => {
    let over = false
    const look = async () => {
      try {
        const [now, calls] = await Promise.all([seenNow(session), session.calls()])
        if (!over) setFound({ now, calls, problem: undefined })
      } catch (thrown) {
        const problem = thrown instanceof Error ? thrown.message : String(thrown)
        if (!over) setFound((before) => ({ ...before, problem }))
      }
    }
    const timers = LATER_MS.map((ms) => setTimeout(() => void look(), ms))
    return () => {
      over = true
      for (const timer of timers) clearTimeout(timer)
    }
  }, [session, moment])
  return found
}
