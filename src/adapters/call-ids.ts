/** Which ids of tool calls a server takes. */
export interface CallIdRule {
  /** Ids that the server itself gave. */
  own: RegExp
  /** Ids that come from elsewhere. */
  foreign: RegExp
  /** What a new id begins with, before nine digits. */
  prefix: string
}

/**
 * Gives each call of one request an id that the server takes and no other call of the request has, since some servers
 * start again at `call_0` in every turn. A longer history begins with the same ids, so that prompt caches hold.
 */
export function callIds({ own, foreign, prefix }: CallIdRule): (id: string, isOwn: boolean) => string {
  const used = new Set<string>()
  return (id, isOwn) => {
    let fitting = id
    for (let n = used.size; used.has(fitting) || !(isOwn ? own : foreign).test(fitting); n++)
      fitting = prefix + String(n).padStart(9, '0')
    used.add(fitting)
    return fitting
  }
}
