import { createJsonReader } from '../src/lib/partial-json.ts'
import type { Case, Contestant } from './measure.ts'
import { clearYoung } from './stream.ts'

export interface JsonSizes {
  /** Characters of a call's arguments, about. */
  characters: number
}

/** Characters of a delta. */
const DELTA = 20

/** What arguments are made of: the item with that number. */
const SHAPES: Readonly<Record<string, (at: number) => unknown>> = {
  'a file': (at) => `export const line${at} = "a line of code"\n`,
  records: (at) => ({ id: at, name: `n${at}`, ok: at % 2 === 0, price: at * 1.25, tags: ['a', 'b'] }),
  numbers: (at) => (at * 7919) % 100_000,
  decimals: (at) => ((at * 7919) % 100_000) / 100,
  words: (at) => `word${at % 997}`,
  nested: (at) => ({ a: { b: { c: [at, [at]] } }, d: {}, e: null }),
}

/** Arguments of that shape as JSON: the file is one text, all others are lists. */
function argumentsOf(shape: string, characters: number): string {
  const item = SHAPES[shape] ?? (() => null)
  const items: unknown[] = []
  for (let length = 0; length < characters; length += JSON.stringify(items.at(-1)).length + 1)
    items.push(item(items.length))
  return JSON.stringify({ path: 'src/index.ts', content: shape === 'a file' ? items.join('') : items })
}

const inDeltas = (text: string): string[] =>
  Array.from({ length: Math.ceil(text.length / DELTA) }, (_, at) => text.slice(at * DELTA, (at + 1) * DELTA))

const OURS = 'a value after each delta'
const FLOOR = 'concatenate, parse once'

function reads(name: string, text: string, read: (deltas: readonly string[]) => unknown): Contestant {
  const deltas = inDeltas(text)
  return {
    name,
    units: deltas.length,
    run() {
      clearYoung()
      const start = performance.now()
      const value = read(deltas)
      const time = performance.now() - start
      if (JSON.stringify(value) !== text) throw new Error(`${name}: read something else than was written`)
      return time
    },
  }
}

function grow(deltas: readonly string[]): unknown {
  const reader = createJsonReader()
  let shown: unknown
  for (const delta of deltas) {
    reader.push(delta)
    shown = reader.value()
  }
  const end = reader.end()
  return end.ok && end.value === shown ? end.value : undefined
}

function parseOnce(deltas: readonly string[]): unknown {
  let text = ''
  for (const delta of deltas) text += delta
  return JSON.parse(text)
}

/** A call's arguments as they are written, with a value to show on the way. */
export const jsonCases = ({ characters }: JsonSizes): Case[] =>
  Object.keys(SHAPES).map((shape) => {
    const text = argumentsOf(shape, characters)
    return {
      name: `json: ${shape}`,
      unit: 'delta',
      contestants: [reads(OURS, text, grow), reads(FLOOR, text, parseOnce)],
      claims: [{ of: OURS, to: FLOOR, most: 1.5 }],
    }
  })
