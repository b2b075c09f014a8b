/** JSON text, read as it comes. */
export interface JsonReader {
  /** The next piece of the text; cuts may fall anywhere. */
  push(text: string): void
  /**
   * The value as far as it is written: objects and arrays with what came of them, texts as far as they go, numbers and words
   * once something follows them. Undefined until there is something to show; then always the same objects, which grow in
   * place: copy what must stay as it is, and change nothing. Where the text turns out to be no JSON, what came before that.
   */
  value(): unknown
  /**
   * The text is over. Its value, equal to what `JSON.parse` gives, or why it is no JSON: nothing is repaired, and that a part of
   * it could be read means nothing. Call it once, and last.
   */
  end(): { ok: true; value: unknown } | { ok: false; error: string }
}

/** Most containers within one another: whoever walks over the value has only so much stack. */
const DEEPEST = 500

/** What comes next. Where one of the first three does, the container may end. */
const AFTER_VALUE = 0
const FIRST_ITEM = 1
const FIRST_KEY = 2
const VALUE = 3
const KEY = 4
const COLON = 5
const NOTHING = 6
const TEXT = 7
const KEY_TEXT = 8
const WORD = 9

type Container = unknown[] | Record<string, unknown>

interface Reading {
  next: number
  /** The innermost container, and where in it the value belongs. */
  inside: Container
  index: number
  key: string
  /** What it is in, outermost first. */
  readonly around: Container[]
  /** The text, number or word that is being read. */
  token: string
  /** The end of a piece that means nothing without the next: half an escape, half a surrogate pair. */
  rest: string
  error: string
}

/**
 * Reads JSON in time linear in its length, however it is cut: no character is looked at twice. At most 500 containers within
 * one another.
 *
 * @example
 * const reader = createJsonReader()
 * session.message(id).onAppend(({ text }) => {
 *   reader.push(text)
 *   show(reader.value())
 * })
 */
export function createJsonReader(): JsonReader {
  const root: unknown[] = []
  const reading: Reading = {
    next: VALUE,
    inside: root,
    index: 0,
    around: [],
    key: '',
    token: '',
    rest: '',
    error: '',
  }
  return {
    push: (text) => readPiece(reading, text),
    value: () => root[0],
    end() {
      if (reading.next === WORD) readPiece(reading, ' ')
      if (reading.next !== NOTHING) reading.error ||= 'no JSON: no end'
      const { error } = reading
      return error ? { ok: false, error } : { ok: true, value: root[0] }
    },
  }
}

function readPiece(reading: Reading, text: string): void {
  const piece = reading.rest ? reading.rest + text : text
  reading.rest = ''
  let i = 0
  while (i < piece.length && !reading.error) {
    if (reading.next < TEXT) i = readMark(reading, piece, i)
    else if (reading.next < WORD) i = readText(reading, piece, i)
    else i = readWord(reading, piece, i)
  }
  if (reading.next === TEXT) put(reading, reading.token)
}

/** What stands between texts and words. Like the others, returns where to read on. */
function readMark(reading: Reading, piece: string, i: number): number {
  const { next, inside, around } = reading
  const code = piece.charCodeAt(i)
  const isList = Array.isArray(inside)
  if (code === 32 || code === 10 || code === 13 || code === 9) return i + 1
  if (next < VALUE && code === (isList ? 93 : 125)) {
    reading.inside = around.pop() ?? inside
    reading.next = around.length ? AFTER_VALUE : NOTHING
  } else if (next === VALUE || next === FIRST_ITEM) {
    if (code === 34) begin(reading, TEXT)
    else if (code === 123) enter(reading, {}, FIRST_KEY)
    else if (code === 91) enter(reading, [], FIRST_ITEM)
    else {
      begin(reading, WORD)
      return readWord(reading, piece, i)
    }
  } else if (next === AFTER_VALUE && code === 44) {
    if (isList) reading.index = inside.length
    reading.next = isList ? VALUE : KEY
  } else if (next === COLON && code === 58) reading.next = VALUE
  else if ((next === KEY || next === FIRST_KEY) && code === 34) begin(reading, KEY_TEXT)
  else fail(reading, piece, i)
  return i + 1
}

function begin(reading: Reading, next: number): void {
  reading.next = next
  reading.token = ''
}

function readText(reading: Reading, piece: string, i: number): number {
  let to = i
  // What is in a text as it is: no quote, no backslash, no control character.
  for (let code = 32; to < piece.length; to++) {
    code = piece.charCodeAt(to)
    if (code === 34 || code === 92 || code < 32) break
  }
  const isLast = to === piece.length
  // Half a pair is no character that anybody could show.
  if (isLast && piece.charCodeAt(to - 1) >> 10 === 0x36) to--
  reading.token += piece.slice(i, to)
  if (isLast) return wait(reading, piece, to)
  const code = piece.charCodeAt(to)
  if (code === 92) return readEscape(reading, piece, to)
  if (code !== 34) return fail(reading, piece, to)
  if (reading.next === TEXT) settle(reading, reading.token)
  else {
    reading.key = reading.token
    reading.next = COLON
  }
  return to + 1
}

const LETTERS = '"\\/bfnrt'
const MEANINGS = '"\\/\b\f\n\r\t'

function readEscape(reading: Reading, piece: string, i: number): number {
  const place = LETTERS.indexOf(piece.charAt(i + 1))
  const end = i + (place < 0 ? 6 : 2)
  if (end > piece.length) return wait(reading, piece, i)
  reading.token += place < 0 ? parse(reading, `"${piece.slice(i, end)}"`) : MEANINGS.charAt(place)
  return end
}

/** The rest of the piece is read with the next. */
function wait(reading: Reading, piece: string, i: number): number {
  reading.rest = piece.slice(i)
  return piece.length
}

/** A number, true, false, null, or none of them. */
function readWord(reading: Reading, piece: string, i: number): number {
  let to = i
  let number = 0
  let digits = 0
  for (let code = 0; to < piece.length; to++) {
    code = piece.charCodeAt(to)
    if (code === 44 || code === 93 || code === 125 || code < 33) break
    if (code > 47 && code < 58) digits++
    number = (number * 10 + code - 48) | 0
  }
  reading.token += piece.slice(i, to)
  const { length } = reading.token
  // Nobody else has to be asked for the commonest: few digits, of which the first is no zero.
  const isPlain = length > 0 && length < 10 && digits === length && piece.charCodeAt(i) > 48
  if (to < piece.length) settle(reading, isPlain ? number : parse(reading, reading.token))
  return to
}

function parse(reading: Reading, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return fail(reading, text, 0)
  }
}

function settle(reading: Reading, value: unknown): void {
  put(reading, value)
  reading.next = reading.around.length ? AFTER_VALUE : NOTHING
}

function put({ inside, index, key, error }: Reading, value: unknown): void {
  // What does not parse has no value.
  if (error) return
  if (Array.isArray(inside)) inside[index] = value
  // Assigned, it would become the prototype.
  else if (key === '__proto__')
    Object.defineProperties(inside, Object.getOwnPropertyDescriptors({ [key]: value }))
  else inside[key] = value
}

function enter(reading: Reading, container: Container, next: number): void {
  put(reading, container)
  if (reading.around.push(reading.inside) > DEEPEST) reading.error = 'no JSON: too deep'
  reading.inside = container
  reading.index = 0
  reading.next = next
}

function fail(reading: Reading, piece: string, i: number): number {
  reading.error = `no JSON: ${piece.slice(i, i + 20)}`
  return i
}
