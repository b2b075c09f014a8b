/** Which ids of tool calls a server takes. */
export interface CallIdRule {
  /** Ids that the server itself gave. */
  own: RegExp
  /** Ids that come from elsewhere. */
  foreign: RegExp
  /** What a new id begins with, before nine letters and digits. */
  prefix: string
}

/**
 * Gives each call of one request an id that the server takes and no other call of the request has, since some servers
 * start again at `call_0` in every turn. The same history gets the same ids, so that prompt caches hold.
 */
export function callIds({ own, foreign, prefix }: CallIdRule): (id: string, isOwn: boolean) => string {
  const used = new Set<string>()
  return (id, isOwn) => {
    let fitting = id
    const fits = isOwn ? own : foreign
    for (let n = 0; used.has(fitting) || !fits.test(fitting); n++) fitting = prefix + digest(`${n}:${id}`)
    used.add(fitting)
    return fitting
  }
}

/** Nine letters and digits that depend on all of a text: cyrb53, a public-domain hash, in base 36. */
function digest(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36).padStart(9, '0').slice(-9)
}
