import { createEstimator } from '../src/context/estimate.ts'
import { createLargeEstimator } from '../src/context/large-estimate.ts'
import type { Case, Contestant } from './measure.ts'
import { clearYoung } from './stream.ts'

export interface TokenSizes {
  /** Text of all kinds, as it is passed to where it is counted; none where there is no corpus. */
  texts: readonly string[]
}

/** Another library that counts without a vocabulary. */
export interface TokenPeer {
  name: string
  count(text: string): number
}

const SMALL = 'small tables'
const LARGE = 'large tables'

function counts({ name, count }: TokenPeer, texts: readonly string[]): Contestant {
  const units = texts.reduce((sum, text) => sum + text.length, 0)
  return {
    name,
    units,
    run() {
      clearYoung()
      const start = performance.now()
      let tokens = 0
      for (const text of texts) tokens += count(text)
      const time = performance.now() - start
      if (!(tokens > units / 20 && tokens < units)) throw new Error(`${name}: ${tokens} tokens cannot be`)
      return time
    },
  }
}

/** How long counting takes, on text of all kinds at once. */
export function tokenCases({ texts }: TokenSizes, peers: readonly TokenPeer[]): Case[] {
  if (texts.length === 0) return []
  const own = [
    { name: SMALL, count: createEstimator({ family: 'o200k' }).text },
    { name: LARGE, count: createLargeEstimator({ family: 'o200k' }).text },
  ]
  return [
    {
      name: 'tokens: text of 48 kinds',
      unit: 'character',
      contestants: [...own, ...peers].map((one) => counts(one, texts)),
      claims: peers.flatMap((peer) => own.map(({ name }) => ({ of: peer.name, to: name, least: 6 }))),
    },
  ]
}
