import { FAMILIES, type Family } from './families.ts'
import { decode, type TokenTables } from './token-code.ts'
import { createScan, PARTS, type Scan, type Scanned } from './token-scan.ts'

/** Tokens of a text by class, before calibration. */
export type Parts = readonly [words: number, signs: number, alphabets: number, ideographs: number]

/** How far a text has been counted. Plain data. */
export interface TextPosition {
  readonly scanned?: Scanned | undefined
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

/** Scans by tables, which are decoded when the first text comes. A text is normalised first. */
function tableScan(tables: TokenTables, family: Family): Scan {
  let scan: Scan | undefined
  return (text, from) => {
    scan ??= createScan(decode(tables, FAMILIES.indexOf(family)))
    return scan(text.normalize(), from)
  }
}

/**
 * Counts text by tables and nothing else, in whole tokens: the heart of `createEstimator`, for whoever needs neither messages nor
 * calibration. `createTextCounter(smallTables, 'claude')('Good morning')`
 * @param family one that is none of them is counted as what all have in common
 */
export function createTextCounter(tables: TokenTables, family: Family): (text: string) => number {
  const scan = tableScan(tables, family)
  return (text) => (text ? Math.round(scan(text)[5] / PARTS) : 0)
}

/** Counts text by tables, by class and in pieces. */
export function tableCounter(tables: TokenTables, family: Family): TextCounter {
  const scan = tableScan(tables, family)
  /** No text leaves all as it was. */
  const goOn = (text: string, from?: Scanned): Scanned | undefined => (text ? scan(text, from) : from)
  const partsOf = (scanned: Scanned | undefined): Parts => {
    const [, signs = 0, alphabets = 0, ideographs = 0, , most = 0] = scanned ?? []
    return [
      (most - signs - alphabets - ideographs) / PARTS,
      signs / PARTS,
      alphabets / PARTS,
      ideographs / PARTS,
    ]
  }
  return {
    parts: (text) => partsOf(goOn(text)),
    append(from, text) {
      const all = (from?.tail ?? '') + text
      const end = settledEnd(all)
      const scanned = goOn(all.slice(0, end), from?.scanned)
      const tail = all.slice(end)
      return { scanned, tail, parts: partsOf(goOn(tail, scanned)) }
    },
  }
}

/** Counts by a tokenizer, which has to see the whole text each time. */
export const tokenizerCounter = (count: (text: string) => number): TextCounter => ({
  parts: (text) => [count(text), 0, 0, 0],
  append(from, text) {
    const tail = (from?.tail ?? '') + text
    return { tail, parts: [count(tail), 0, 0, 0] }
  },
})
