/** An answer as a model would give it: the pieces, and the whole of them. */
export interface Answer {
  deltas: readonly string[]
  text: string
}

/** Words of the length of tokens; some of them not ASCII, as in real answers. */
const WORDS = [
  'The',
  ' tide',
  'mark',
  ' is',
  ' the',
  ' new',
  'est',
  ' message',
  ' up',
  ' to',
  ' which',
  ' every',
  'thing',
  ' is',
  ' sett',
  'led',
  ',',
  ' caf\u00e9',
  ' \u2192',
  ' 42',
  '.\n\n',
  ' "quo',
  'ted"',
  ' `code`',
  ' and',
  ' so',
  ' on',
]

/** An answer of that many deltas; the same for the same number. */
export function answerOf(count: number): Answer {
  const deltas: string[] = []
  // A sequence without a short period; chance would make two runs differ.
  for (let at = 0; at < count; at++) deltas.push(WORDS[(at * at + 7 * at) % WORDS.length] ?? '')
  return { deltas, text: deltas.join('') }
}

/** How bytes are cut into chunks: as the events are, in pieces of so many bytes, or not at all. */
export type Chunking = 'event' | 'whole' | number

export const chunkingName = (chunking: Chunking): string => {
  if (chunking === 'event') return 'one event a chunk'
  if (chunking === 'whole') return 'one chunk'
  return chunking < 1024 ? `${chunking} B chunks` : `${chunking / 1024} kB chunks`
}

/** Events as chunks of bytes. */
export function chunksOf(events: readonly string[], chunking: Chunking): Uint8Array<ArrayBuffer>[] {
  const encoder = new TextEncoder()
  if (chunking === 'event') return events.map((event) => encoder.encode(event))
  const bytes = encoder.encode(events.join(''))
  const size = chunking === 'whole' ? bytes.length : chunking
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size))
  return chunks
}
