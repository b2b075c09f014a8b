/**
 * Counts tokens without a vocabulary: each UTF-16 unit adds three table cells, found by its kind and the kinds of the two before
 * it, by its place in a run of its script, and by what it is beside the one before. One pass, integers only, no words, no
 * expressions, and no branches that depend on the text: the sums are the same in every engine and however a text is cut.
 */

/** Classes of three units, four bits each. */
const HISTORIES = 16 ** 3
const RUNS = HISTORIES
const PAIRS = RUNS + 32 * 16
const CHARACTERS = PAIRS + 64 * 64
/** The cell that each text has once. */
export const ONCE = CHARACTERS + 512
export const CELLS = ONCE + 1

/** Where the cells of each sort begin: histories, runs, pairs of ASCII, other characters, and the one that each text has once. */
export const STARTS: readonly number[] = [0, RUNS, PAIRS, CHARACTERS, ONCE]
/** How far before a cell of each sort the one stands that it is most like, but for its neighbour. */
export const STRIDES: readonly number[] = [256, 16, 64, 1, 1]

/**
 * First unit, and its kind + 32 × its class, in turns. Kinds go by what a text is made of, eight to each: words are ASCII letters
 * and white space, signs ASCII digits (8) and punctuation (9, 10 at the end of a sentence, 11 brackets), then other alphabets,
 * and East Asian text, symbols and emoji.
 */
const KINDS = [
  0, 66, 10, 33, 11, 66, 13, 33, 14, 66, 32, 0, 33, 201, 48, 168, 58, 201, 65, 99, 91, 201, 97, 132, 123, 201,
  0x80, 440, 0xc0, 304, 0x370, 337, 0x400, 338, 0x590, 371, 0x600, 372, 0x900, 405, 0xe00, 406, 0x1e00, 304,
  0x2000, 440, 0x3000, 217, 0x3040, 474, 0x3100, 475, 0xac00, 508, 0xd7b0, 445, 0xe000, 217,
]
const UPPER = 3
const LOWER = 4
const DIGIT = 8
const SIGN = 9
const FURTHER_LATIN = 16

/** What a unit of ASCII is within its kind: letters of either case alike, 32 and more for signs, 0 for all else. */
const nameOf = (unit: number, kind: number): number =>
  kind > DIGIT ? (unit < 64 ? unit : 48 + (unit & 7)) : unit > 64 ? unit & 31 : 0

/** Each unit's kind and class, and 512 × its name; others than ASCII have a hash for it. */
function unitsByKind(): Int32Array {
  const units = new Int32Array(0x10000)
  for (let at = 0; at < KINDS.length; at += 2) units.fill(KINDS[at + 1] ?? 0, KINDS[at])
  for (const [at, signs] of [`.,;:!?'"`, '()[]{}<>'].entries())
    for (const sign of signs) units[sign.charCodeAt(0)] = 234 + 33 * at
  return units.map(
    (kind, unit) =>
      kind + 512 * (unit < 128 ? nameOf(unit, kind & 31) : 64 * 64 + (((unit * 40503) >>> 4) & 511)),
  )
}

const scriptOf = (kind: number): number =>
  kind === UPPER || kind === FURTHER_LATIN ? LOWER : kind === SIGN + 1 || kind === SIGN + 2 ? SIGN : kind

/** From a script and the place in its run (16 × script + place, and 512 after a small letter), by the next unit's kind, to the next. */
function nextRuns(): Uint16Array {
  const runs = new Uint16Array(64 * 16 * 32)
  for (const at of runs.keys()) {
    const kind = at & 31
    const script = scriptOf(kind)
    const place = (at >> 5) & 15
    // A capital after a small letter begins a new run; digits are taken by threes.
    const goes = ((at >> 9) & 31) === script && (kind !== UPPER || at < 1 << 14)
    runs[at] =
      16 * script +
      (goes ? (script === DIGIT && place === 2 ? 0 : Math.min(15, place + 1)) : 0) +
      (kind === LOWER ? 512 : 0)
  }
  return runs
}

/** In parts of a token, by what a text is made of: words, signs, other alphabets, ideographs. */
export type Sums = readonly [words: number, signs: number, alphabets: number, ideographs: number]

/** What has been counted of a text, and what the next unit depends on. Plain data. */
export interface Scanned {
  /** UTF-16 units. */
  length: number
  sums: Sums
  /** The most they were together on the way. */
  most: number
  /** Classes of the last three units; the last run; the last name, of ASCII. */
  end: readonly [number, number, number]
}

/** A text begins as in the middle of prose, after a space: most that are counted are parts of something. */
export const NOTHING: Scanned = { length: 0, sums: [0, 0, 0, 0], most: 0, end: [0x40, 0, 0] }

export type Scan = (from: Scanned, text: string) => Scanned

/** Walks on over `text`, adding cells up. */
export function createScan(cells: Readonly<Record<number, number>>): Scan {
  const units = unitsByKind()
  // With the cell of each run in the bits above: one look-up less.
  const runs = Int32Array.from(nextRuns(), (run) => run | ((cells[RUNS + (run & 511)] ?? 0) << 10))
  return (from, text) => {
    const sums = new Int32Array(4)
    const [words, signs, alphabets, ideographs] = from.sums
    let { most } = from
    let [history, run, before] = from.end
    let all = words + signs + alphabets + ideographs
    for (let at = 0; at < text.length; at++) {
      const unit = units[text.charCodeAt(at)] ?? 0
      const kind = unit & 31
      history = ((history << 4) | ((unit >> 5) & 15)) & (HISTORIES - 1)
      run = runs[((run & 1023) << 5) | kind] ?? 0
      // Letters are paired with letters, and what ends a word; signs with signs; nothing else than ASCII with anything.
      const name = unit >> 9
      const ascii = (kind - 16) >> 31
      const paired = ((((name ^ before) >> 5) & 1) - 1) & ascii
      const value =
        (cells[history] ?? 0) + (run >> 10) + (cells[PAIRS + ((before << 6) & paired) + name] ?? 0)
      before = name & ascii
      all += value
      if (all > most) most = all
      sums[kind >> 3] = (sums[kind >> 3] ?? 0) + value
    }
    const [more = 0, moreSigns = 0, moreAlphabets = 0, moreIdeographs = 0] = sums
    return {
      length: from.length + text.length,
      sums: [words + more, signs + moreSigns, alphabets + moreAlphabets, ideographs + moreIdeographs],
      most,
      end: [history, run & 1023, before],
    }
  }
}

/** The cell of where a scan stands in its run. */
export const runCell = ({ end: [, run] }: Scanned): number => RUNS + (run & 511)
