/** Where a story can be broken off: counted from 1, in the order in which it comes to them. */
export interface Crash {
  side: 'client' | 'server'
  n: number
  when: 'before' | 'after'
}

/** The points of one telling. */
export interface Counter {
  /** What the story came to, by side. */
  readonly labels: Readonly<Record<Crash['side'], string[]>>
  /** Whether the crash that was ordered has happened. */
  readonly happened: boolean
  /** No point is counted any more. */
  stop(): void
  /** Comes to a point. Says whether its side dies there. */
  reach(side: Crash['side'], label: string): boolean
  /** The point that was reached last is over. Says whether its side dies now. */
  leave(side: Crash['side'], n: number): boolean
  /** A call of a port is a point: not made by who is dead, and not heard of by who dies in it. */
  call<T>(label: string, life: Life, body: () => Promise<T>): Promise<T>
}

/** Of a page: whether it lives, and its end. */
export interface Life {
  alive(): boolean
  die(): void
}

const never = new Promise<never>(() => {})

/** Counts the points of a telling, and breaks it off at the one that is given. */
export function createCounter(crash?: Crash): Counter {
  const labels: Record<Crash['side'], string[]> = { client: [], server: [] }
  let happened = false
  let counting = true
  const dies = (side: Crash['side'], n: number, when: Crash['when']): boolean => {
    if (happened || crash?.side !== side || crash.n !== n || crash.when !== when) return false
    happened = true
    return true
  }
  const reach: Counter['reach'] = (side, label) => counting && dies(side, labels[side].push(label), 'before')
  return {
    labels,
    get happened() {
      return happened
    },
    stop() {
      counting = false
    },
    reach,
    leave: (side, n) => dies(side, n, 'after'),
    async call(label, life, body) {
      if (!life.alive()) return never
      if (reach('client', label)) {
        life.die()
        return never
      }
      const n = counting ? labels.client.length : 0
      try {
        return await body()
      } finally {
        if (life.alive() && dies('client', n, 'after')) life.die()
        if (!life.alive()) await never
      }
    },
  }
}
