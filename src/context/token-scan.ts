/**
 * Counts tokens without a vocabulary: each UTF-16 unit adds three table cells, found by its kind and the kinds of the two before
 * it, by its place in a run of its script, and by what it is beside the one before. One pass, integers only, no words, no
 * expressions, and no branches that depend on the text: the sums are the same in every engine and however a text is cut.
 */

// Numbers are exported, since bundlers then put them where they are used.

/** Cells by classes of three units, four bits each, stand first; then those of runs, script × 16 + place. */
export const RUNS = 4096
/** Of pairs of ASCII: the one before × 64 + this one. */
export const PAIRS = 4608
/** Of other characters, by a hash. */
export const CHARACTERS = 8704
export const HASHES = 509
/** The cell that each text has once. */
export const ONCE = 9216
export const CELLS = 9217

/**
 * Kinds of units go by what a text is made of, eight to each: words are ASCII letters and white space, signs ASCII digits (8) and
 * punctuation (9, 10 at the end of a sentence, 11 brackets), then other alphabets, and East Asian text, symbols and emoji.
 */
export const UPPER = 3
export const LOWER = 4
export const DIGIT = 8
export const SIGN = 9
export const CLOSING = 10
export const FURTHER_LATIN = 16

/** Cells are in parts of a token. */
export const PARTS = 32

/** First unit, and its kind + 32 × its class, in turns. */
const KINDS = [
  0, 66, 10, 33, 14, 66, 32, 0, 33, 201, 48, 168, 58, 201, 65, 99, 91, 201, 97, 132, 123, 201, 0x80, 440,
  0xc0, 304, 0x370, 337, 0x400, 338, 0x590, 371, 0x600, 372, 0x900, 405, 0xe00, 406, 0x1e00, 304, 0x2000, 440,
  0x3000, 217, 0x3040, 474, 0x3100, 475, 0xac00, 508, 0xd7b0, 445, 0xe000, 217,
]

/** Of ASCII, nothing but signs has a kind and class from here on. */
const SIGNS = 200

/** What a unit is within its kind: of ASCII, letters of either case alike, 32 and more for signs, 0 for all else; a hash of others. */
const nameOf = (unit: number, kind: number): number =>
  unit > 127
    ? CHARACTERS - PAIRS + (unit % HASHES)
    : kind > SIGNS
      ? unit < 64
        ? unit
        : 48 + (unit & 7)
      : unit > 64
        ? unit & 31
        : 0

/** Each unit's kind and class, and 512 × its name. */
function unitsByKind(): Int32Array {
  const units = new Int32Array(0x10000)
  for (let at = 0; at < KINDS.length; at += 2) units.fill(KINDS[at + 1] ?? 0, KINDS[at])
  for (let at = 0; at < 16; at++) units[`.,;:!?'"()[]{}<>`.charCodeAt(at)] = 234 + 33 * (at >> 3)
  return units.map((kind, unit) => kind + 512 * nameOf(unit, kind))
}

const scriptOf = (kind: number): number =>
  kind === UPPER || kind === FURTHER_LATIN ? LOWER : kind >> 1 === CLOSING >> 1 ? SIGN : kind

/** The cell of a place in a run: 16 × the kind of its last unit + how many of its script stood before it. */
export const runCell = (run: number): number => RUNS + 16 * scriptOf(run >> 4) + (run & 15)

/** From one place in a run to the next: by 32 × place + kind of the next unit. With the next place's cell in the bits above. */
const nextRuns = (cells: Cells): Int32Array =>
  new Int32Array(1 << 14).map((_, at) => {
    const before = at >> 9
    const kind = at & 31
    const script = scriptOf(kind)
    const place = (at >> 5) & 15
    // A capital after a small letter begins a new run; digits are taken by threes.
    const goes =
      script === scriptOf(before) && (kind !== UPPER || before !== LOWER) && (script !== DIGIT || place !== 2)
    const run = 16 * kind + (goes ? Math.min(15, place + 1) : 0)
    return run + 512 * (cells[runCell(run)] ?? 0)
  })

/**
 * What has been counted of a text, in parts of a token, and what the next unit depends on. Plain data; without names, which a
 * page would pay for.
 */
export type Scanned = readonly [
  // By what a text is made of. What each text costs once is among words.
  words: number,
  signs: number,
  alphabets: number,
  ideographs: number,
  all: number,
  /** The most it was on the way, and half a token at least: what the text costs, which never gets less as it goes on. */
  most: number,
  /** Classes of the last three units. */
  history: number,
  /** The last place in a run. */
  run: number,
  /** The last name, of ASCII. */
  before: number,
]

/** Walks on over `text`, adding cells up. */
export type Scan = (text: string, from?: Scanned) => Scanned

type Cells = Readonly<Record<number, number>>

export function createScan(cells: Cells): Scan {
  const units = unitsByKind()
  const runs = nextRuns(cells)
  const once = cells[ONCE] ?? 0
  // A text begins as in the middle of prose, after a space: most that are counted are parts of something.
  const start: Scanned = [once, 0, 0, 0, once, PARTS / 2, 64, 0, 0]
  return (text, from = start) => {
    let [words, signs, alphabets, ideographs, all, most, history, run, before] = from
    const sums: [number, number, number, number] = [words, signs, alphabets, ideographs]
    for (let at = 0; at < text.length; at++) {
      const unit = units[text.charCodeAt(at)] ?? 0
      const kind = unit & 31
      history = ((history << 4) | ((unit >> 5) & 15)) & (RUNS - 1)
      run = runs[((run & 511) << 5) | kind] ?? 0
      // Letters are paired with letters, and what ends a word; signs with signs; nothing else than ASCII with anything.
      const name = unit >> 9
      const ascii = (kind - FURTHER_LATIN) >> 31
      const paired = ((((name ^ before) >> 5) & 1) - 1) & ascii
      const value = (cells[history] ?? 0) + (run >> 9) + (cells[PAIRS + ((before << 6) & paired) + name] ?? 0)
      before = name & ascii
      all += value
      // The higher of both: a branch would depend on the text, and cost a third of the time.
      const left = most - all
      most -= left & (left >> 31)
      sums[kind >> 3] = (sums[kind >> 3] ?? 0) + value
    }
    return [...sums, all, most, history, run & 511, before]
  }
}
