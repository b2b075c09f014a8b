import { expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { SCENES } from './scenes.ts'
import { walk } from './walk.ts'

noStrayRejections()

/** `TIDEMARK_WALKS=20000` walks for longer, `TIDEMARK_SEED=7` walks one seed. Over a server a walk takes twenty times as long. */
const WALKS = Number(process.env.TIDEMARK_WALKS ?? 60)
const SHARE: Readonly<Record<string, number>> = { direct: 1, remote: 0.05 }
const SEED = process.env.TIDEMARK_SEED

test.each(SCENES)(
  'whoever allows, stops, edits, reloads and crashes when: calls are answered once, none is executed twice, over %s',
  async (name, open) => {
    const length = Math.ceil(WALKS * (SHARE[name] ?? 1))
    const seeds = SEED === undefined ? Array.from({ length }, (_each, seed) => seed) : [Number(SEED)]
    for (const seed of seeds) expect(await walk(seed, open), `seed ${seed}`).toEqual([])
  },
  WALKS * 5_000,
)
