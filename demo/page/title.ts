import type { Session } from 'tidemark'

const LONGEST = 60

export const titleOf = (session: Session | undefined): string => session?.title || 'New session'

/** A session's first name: the beginning of what was asked first. */
export function titleFrom(text: string): string {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? ''
  if (line.length <= LONGEST) return line
  const cut = line.slice(0, LONGEST)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST / 2)).trimEnd()}…`
}
