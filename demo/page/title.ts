import type { Session } from 'tidemark'
import * as z from 'zod/mini'

const LONGEST = 60

const SubRun = z.object({ sessionId: z.string() })

/** The session in which a run was asked for that is a session of its own; undefined for any other. */
export const parentOf = (session: Session | undefined): string | undefined =>
  z.safeParse(SubRun, session?.metadata.subRun).data?.sessionId

export const titleOf = (session: Session | undefined): string =>
  session?.title || (parentOf(session) ? 'A run of its own' : 'New session')

/** A session's first name: the beginning of what was asked first. */
export function titleFrom(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? ''
  if (line.length <= LONGEST) return line
  const cut = line.slice(0, LONGEST)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST / 2)).trimEnd()}…`
}
