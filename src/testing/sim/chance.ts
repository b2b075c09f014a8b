/** Chance that repeats itself: the same seed draws the same. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number
  /** A whole number in [0, below). */
  int(below: number): number
  /** Whether something of this probability happens. */
  happens(probability: number): boolean
  /** One of a list; throws `RangeError` where it is empty. */
  pick<T>(list: readonly T[]): T
  /** Chance of its own, so that what one part draws moves nothing in another. */
  fork(name: string): Chance
}

/** FNV-1a over a name's characters, to begin a fork elsewhere. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/**
 * Seeded chance, by the generator mulberry32.
 * @param seed a whole number
 */
export function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    next,
    int,
    happens: (probability) => probability > 0 && next() < probability,
    pick(list) {
      const [only] = list.length === 1 ? list : list.slice(int(list.length))
      if (only === undefined) throw new RangeError('list: expected at least one entry')
      return only
    },
    fork: (name) => createChance(seed ^ hashOf(name)),
  }
}
