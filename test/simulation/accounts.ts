/** Who can be signed in on a device, and the sessions that each opens. */
export const SESSIONS_OF = { ada: ['a', 'b'], bob: ['c'] } as const
export type Account = keyof typeof SESSIONS_OF

/** Whose every walk begins and ends as: what the oracles look at in the end is theirs. */
export const FIRST: Account = 'ada'
/** Their sessions. */
export const SESSIONS: readonly string[] = SESSIONS_OF[FIRST]

const ownerOf = (sessionId: string): Account | undefined =>
  (Object.keys(SESSIONS_OF) as Account[]).find((account) =>
    SESSIONS_OF[account].some((id: string) => id === sessionId),
  )

/** What a request says that somebody asked for, by its id. */
export function idIn(body: unknown): string {
  const given: unknown = typeof body === 'string' ? JSON.parse(body) : undefined
  return typeof given === 'object' && given !== null && 'id' in given ? String(given.id) : ''
}

/**
 * What is wrong with a request: it speaks of a session of somebody else than who is signed in, or carries what somebody else
 * asked for.
 * @param makers who made the ids that begin so
 */
export function foreign(
  makers: ReadonlyMap<string, Account>,
  url: string,
  { method = 'GET', headers, body }: RequestInit,
): string[] {
  const caller = new Headers(headers).get('authorization')
  const { pathname } = new URL(url)
  const [, , sessionId = ''] = pathname.split('/')
  const id = idIn(body)
  const maker = makers.get(id.slice(0, Math.max(0, id.lastIndexOf('-'))))
  return [ownerOf(sessionId), ownerOf(id), maker]
    .filter((owner) => owner !== undefined && owner !== caller)
    .map((owner) => `${method} ${pathname} (${id}) is ${owner}'s and was asked for as ${caller}`)
}
