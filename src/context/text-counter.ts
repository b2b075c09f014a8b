import { FAMILIES, type Family } from './families.ts'
import { decode, PARTS, type TokenTables } from './token-code.ts'
import { createScan, NOTHING, ONCE, type Scan, type Scanned } from './token-scan.ts'

/** Tokens of a text by class, before calibration. */
export type Parts = readonly [words: number, signs: number, alphabets: number, ideographs: number]

/** How far a text has been counted. Plain data. */
export interface TextPosition {
  readonly scanned: Scanned
  /** The end of the text, which what follows may still combine with. */
  readonly tail: string
}

export interface TextCounter {
  parts(text: string): Parts
  append(from: TextPosition | undefined, text: string): TextPosition & { parts: Parts }
}

/** What may combine with what stands before it when a text is normalised: marks, the later letters of a Hangul syllable, half a pair. */
const COMBINES = /^[\p{M}\u1160-\u11ff\ud800-\udfff]/u
/** Longer ends are taken as settled, so that a text of nothing but marks is not counted again and again. */
const LONGEST_TAIL = 1_000

/** Where the last character begins that what follows may still change. */
function settledEnd(text: string): number {
  let at = text.length - 1
  while (at > 0 && COMBINES.test(text.slice(at, at + 2))) at--
  return text.length - at > LONGEST_TAIL ? text.length : Math.max(at, 0)
}

interface TableScan {
  /** Walks on over a text, which is normalised first. */
  walk: Scan
  /** All that was walked over, with what each text costs once, in parts of a token: never less for being longer. */
  allOf(scanned: Scanned): number
}

/** Scans by tables, which are decoded when the first text comes. */
function tableScan(tables: TokenTables, family: Family): TableScan {
  let scan: Scan | undefined
  let once = 0
  return {
    walk(from, text) {
      if (!scan) {
        const cells = decode(tables, FAMILIES.indexOf(family))
        once = cells[ONCE] ?? 0
        scan = createScan(cells)
      }
      return text ? scan(from, text.normalize('NFC')) : from
    },
    allOf: ({ length, most }) => length && Math.max(PARTS / 2, most + once),
  }
}

/**
 * Counts text by tables and nothing else, in whole tokens: the heart of `createEstimator`, for whoever needs neither messages nor
 * calibration. `createTextCounter(smallTables, 'claude')('Good morning')`
 */
export function createTextCounter(tables: TokenTables, family: Family): (text: string) => number {
  const { walk, allOf } = tableScan(tables, family)
  return (text) => Math.round(allOf(walk(NOTHING, text)) / PARTS)
}

/** Counts text by tables, by class and in pieces. */
export function tableCounter(tables: TokenTables, family: Family): TextCounter {
  const { walk, allOf } = tableScan(tables, family)
  const partsOf = (scanned: Scanned): Parts => {
    const [, signs, alphabets, ideographs] = scanned.sums
    const words = allOf(scanned) - signs - alphabets - ideographs
    return [words / PARTS, signs / PARTS, alphabets / PARTS, ideographs / PARTS]
  }
  return {
    parts: (text) => partsOf(walk(NOTHING, text)),
    append(from, text) {
      const all = (from?.tail ?? '') + text
      const end = settledEnd(all)
      const scanned = walk(from?.scanned ?? NOTHING, all.slice(0, end))
      const tail = all.slice(end)
      return { scanned, tail, parts: partsOf(walk(scanned, tail)) }
    },
  }
}

/** Counts by a tokenizer, which has to see the whole text each time. */
export const tokenizerCounter = (count: (text: string) => number): TextCounter => ({
  parts: (text) => [count(text), 0, 0, 0],
  append(from, text) {
    const tail = (from?.tail ?? '') + text
    return { scanned: NOTHING, tail, parts: [count(tail), 0, 0, 0] }
  },
})
