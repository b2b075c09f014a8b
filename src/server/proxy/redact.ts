const MASK = new TextEncoder().encode('[redacted]')

/** Where `part` begins in `bytes` at or after `from`; also where only its beginning is there, at the end. -1: nowhere. */
function find(bytes: Uint8Array, part: Uint8Array, from: number): number {
  const [first] = part
  if (first === undefined) return -1
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    const length = Math.min(part.length, bytes.length - at)
    let same = 1
    while (same < length && bytes[at + same] === part[same]) same++
    if (same === length) return at
  }
  return -1
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Replaces secrets in bytes that come in pieces cut anywhere. */
export interface Redactor {
  /** What can be passed on of the bytes so far: all of them, but for an end that may be the beginning of a secret. */
  feed(bytes: Uint8Array): Uint8Array
  /** What was held back. */
  end(): Uint8Array
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const encoder = new TextEncoder()
  // Longer ones first: one may be the beginning of another.
  const parts = secrets.map((secret) => encoder.encode(secret)).sort((a, b) => b.length - a.length)
  let held: Uint8Array = new Uint8Array()

  function feed(bytes: Uint8Array): Uint8Array {
    const all = held.length > 0 ? concat([held, bytes]) : bytes
    held = new Uint8Array()
    const out: Uint8Array[] = []
    let done = 0
    for (;;) {
      let next = -1
      let length = 0
      for (const part of parts) {
        const at = find(all, part, done)
        if (at >= 0 && (next < 0 || at < next)) [next, length] = [at, part.length]
      }
      if (next < 0) return out.length === 0 && done === 0 ? all : concat([...out, all.subarray(done)])
      out.push(all.subarray(done, next))
      if (next + length > all.length) {
        held = all.slice(next)
        return concat(out)
      }
      out.push(MASK)
      done = next + length
    }
  }
  return { feed, end: () => held }
}

/** A text without these secrets. */
export const redactText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((result, secret) => result.replaceAll(secret, '[redacted]'), text)
