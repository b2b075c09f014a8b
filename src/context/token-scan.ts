/**
 * Counts tokens without a vocabulary: each UTF-16 unit adds table cells, found by its class and the classes of the two before
 * it, by its script and its place in the run, and by what it is beside what came before. One pass, integers only, no words, no
 * expressions: the sums are the same in every engine and however a text is cut.
 */

const HISTORIES = 16 ** 3
const RUNS = HISTORIES
const PAIRS = RUNS + 18 * 16
const SIGNS = PAIRS + 27 * 32
const CHARACTERS = SIGNS + 256
/** The cell that each text has once. */
export const ONCE = CHARACTERS + 512
/** A cell that stays empty. */
const NONE = ONCE + 1
export const CELLS = NONE + 1

/** Where the cells of each kind begin: histories, runs, letter pairs, signs, characters, and the one that each text has once. */
export const STARTS: readonly number[] = [0, RUNS, PAIRS, SIGNS, CHARACTERS, ONCE, NONE]

const LOWER = 3
const UPPER = 4
const DIGITS = 4
const SIGN = 5
const FIRST_SCRIPT_OF_SIGNS = 2
const FIRST_NON_ASCII = 0x80
const LONGEST = 15

/**
 * First unit and kind, in turns. A kind is class (of 16) + 16 × script (of 18) + 512 × text class: words are ASCII letters and
 * white space (0), signs ASCII digits and punctuation (1), then other alphabets (2), East Asian text, symbols and emoji (3).
 */
const KINDS = [
  0, 34, 10, 17, 11, 34, 13, 17, 14, 34, 32, 0, 33, 600, 48, 581, 58, 600, 65, 52, 91, 600, 97, 51, 123, 600,
  0x80, 1775, 0xc0, 1081, 0x370, 1130, 0x400, 1146, 0x590, 1163, 0x600, 1179, 0x900, 1196, 0xe00, 1212,
  0x1e00, 1081, 0x2000, 1775, 0x3000, 1784, 0x3040, 1741, 0x3100, 1757, 0xac00, 1806, 0xd7b0, 1823, 0xe000,
  1784,
]

function kindsOfUnits(): Uint16Array {
  const kinds = new Uint16Array(0x10000)
  for (let at = 0; at < KINDS.length; at += 2) kinds.fill(KINDS[at + 1] ?? 0, KINDS[at])
  for (const sign of `.,;:!?'"`) kinds[sign.charCodeAt(0)] = 598
  for (const bracket of '()[]{}<>') kinds[bracket.charCodeAt(0)] = 599
  return kinds
}

/** What has been counted of a text, and what the next unit depends on. Plain data. */
export interface Scanned {
  /** UTF-16 units. */
  length: number
  /** In parts of a token: all, the most it was on the way, and of it signs, other alphabets, ideographs. */
  sums: readonly [number, number, number, number, number]
  /** Classes of the last three units; script, place in the run; the last letter and the last sign. */
  end: readonly [number, number, number, number, number]
}

/** A text begins as in the middle of prose, after a space: most that are counted are parts of something. */
export const NOTHING: Scanned = { length: 0, sums: [0, 0, 0, 0, 0], end: [0x30, 0, 0, 0, 0] }

export type Scan = (from: Scanned, text: string) => Scanned

/** Walks on over `text`, adding cells up. */
export function createScan(cells: Readonly<Record<number, number>>): Scan {
  const kinds = kindsOfUnits()
  return ({ length, sums, end }, text) => {
    let [all, most, signs, alphabets, ideographs] = sums
    let [history, script, place, letter, sign] = end
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      const kind = kinds[unit] ?? 0
      const own = kind & 15
      // A capital after a small letter begins a new run.
      const next = (kind >> 4) & 31
      if (next !== script || (own === UPPER && (history & 15) === LOWER)) place = 0
      else if (place < LONGEST) place = script === DIGITS && place === 2 ? 0 : place + 1
      script = next
      history = ((history << 4) | own) & (HISTORIES - 1)
      let content = NONE
      if (own === LOWER || own === UPPER) {
        content = PAIRS + letter * 32 + (unit & 31)
        letter = unit & 31
        sign = 0
      } else {
        if (script === SIGN) {
          content = SIGNS + ((sign * 31 + unit) & 255)
          sign = unit
        } else if (unit < FIRST_NON_ASCII) {
          // The end of a word.
          if (letter) content = PAIRS + letter * 32
          sign = script < FIRST_SCRIPT_OF_SIGNS ? unit : 0
        } else {
          content = CHARACTERS + (((unit * 40503) >>> 4) & 511)
          sign = 0
        }
        letter = 0
      }
      const value = (cells[history] ?? 0) + (cells[RUNS + script * 16 + place] ?? 0) + (cells[content] ?? 0)
      all += value
      if (all > most) most = all
      if (kind >= 3 * 512) ideographs += value
      else if (kind >= 2 * 512) alphabets += value
      else if (kind >= 512) signs += value
    }
    return {
      length: length + text.length,
      sums: [all, most, signs, alphabets, ideographs],
      end: [history, script, place, letter, sign],
    }
  }
}
