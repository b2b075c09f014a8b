const encoder = new TextEncoder()
const MASK = encoder.encode('[redacted]')
const NOTHING = new Uint8Array()

/** How many bytes of `part` stand at `at`: all of them, or fewer where the bytes end or differ. */
function sameFrom(bytes: Uint8Array, at: number, part: Uint8Array): number {
  let same = 0
  while (same < part.length && at + same < bytes.length && bytes[at + same] === part[same]) same++
  return same
}

interface Found {
  at: number
  /** Length of the longest secret that stands there whole; 0 for none. */
  length: number
  /** The bytes end before it is clear whether a longer one stands there. */
  open: boolean
}

function look(bytes: Uint8Array, at: number, parts: readonly Uint8Array[]): Found {
  const found: Found = { at, length: 0, open: false }
  for (const part of parts) {
    const same = sameFrom(bytes, at, part)
    if (same === part.length) found.length = Math.max(found.length, same)
    else if (at + same === bytes.length) found.open = true
  }
  return found
}

/** The first place at or after `from` where a secret stands, or may begin to. */
function find(bytes: Uint8Array, from: number, parts: readonly Uint8Array[]): Found | undefined {
  const firsts = [...new Set(parts.flatMap(([first]) => first ?? []))]
  let first: Found | undefined
  for (const byte of firsts) {
    for (
      let at = bytes.indexOf(byte, from);
      at >= 0 && at < (first?.at ?? bytes.length);
      at = bytes.indexOf(byte, at + 1)
    ) {
      const found = look(bytes, at, parts)
      if (found.length > 0 || found.open) first = found
    }
  }
  return first
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
  const parts = secrets.map((secret) => encoder.encode(secret))
  let held: Uint8Array = NOTHING

  function pass(bytes: Uint8Array, ended: boolean): Uint8Array {
    const out: Uint8Array[] = []
    let done = 0
    let from = 0
    for (;;) {
      const found = find(bytes, from, parts)
      if (!found) break
      if (found.open && !ended) {
        held = bytes.slice(found.at)
        return concat([...out, bytes.subarray(done, found.at)])
      }
      if (found.length > 0) {
        out.push(bytes.subarray(done, found.at), MASK)
        done = found.at + found.length
      }
      from = Math.max(done, found.at + 1)
    }
    return done === 0 ? bytes : concat([...out, bytes.subarray(done)])
  }

  return {
    feed(bytes) {
      const all = held.length > 0 ? concat([held, bytes]) : bytes
      held = NOTHING
      return pass(all, false)
    },
    end: () => pass(held, true),
  }
}

/** A text without these secrets. */
export function redactText(text: string, secrets: readonly string[]): string {
  const redactor = createRedactor(secrets)
  return new TextDecoder().decode(concat([redactor.feed(encoder.encode(text)), redactor.end()]))
}
