import { Marked, type Token } from 'marked'
import remend from 'remend'

const marked = new Marked({ gfm: true })

/** A top-level piece of a Markdown text: a paragraph, a list, a table, a code block. */
export interface MarkdownBlock {
  token: Token
  /** Its source; equal source renders equally. */
  raw: string
  /** Which one of the text it is: 0 for the first. */
  place: number
}

/** A growing text, cut where what lies before cannot change any more. */
export interface GrowingMarkdown {
  source: string
  /** Blocks that are finished, whatever follows. */
  settled: readonly MarkdownBlock[]
  /** Where in `source` they end. */
  offset: number
  /** The blocks after them as they look now, open ends closed. */
  tail: readonly MarkdownBlock[]
}

export const EMPTY: GrowingMarkdown = { source: '', settled: [], offset: 0, tail: [] }

/** The next text may still join the last two blocks (a list after a blank line, say), so they are read again. */
const OPEN_BLOCKS = 2

const isVisible = (token: Token): boolean => token.type !== 'space' && token.type !== 'def'

const blocksOf = (tokens: readonly Token[], from = 0): MarkdownBlock[] =>
  tokens.filter(isVisible).map((token, index) => ({ token, raw: token.raw, place: from + index }))

/** The blocks of a text that is whole. */
export const wholeMarkdown = (source: string): readonly MarkdownBlock[] => blocksOf(marked.lexer(source))

/**
 * A last line made of markup alone (`-`, `##`, `12.`, a table's head before its delimiter row) says nothing yet, and
 * would show as something else for a moment: it is held back until more comes.
 */
const UNSAID = /(?:^|\n)(?:[ \t]*[-*+>#=|`~_\d.):]+[ \t]*|\|[^\n]*(?:\n[ \t|:-]*)?)$/

/** The last block as it would be if the model stopped here: emphasis closed, half a link shown as its text. */
function closeOpenEnd(block: MarkdownBlock): MarkdownBlock[] {
  if (block.token.type === 'code') return [block]
  const held = block.token.type === 'table' ? block.raw : block.raw.replace(UNSAID, '')
  return blocksOf(marked.lexer(remend(held, { linkMode: 'text-only', katex: false })), block.place)
}

/**
 * How many of the first tokens are final. Only a blank line parts blocks for good: what follows a line directly may
 * still turn it into something else.
 */
function countSettled(tokens: readonly Token[]): number {
  const open = tokens.filter(isVisible).slice(-OPEN_BLOCKS)[0]
  let count = open ? tokens.indexOf(open) : 0
  while (count > 0 && !/\n[ \t]*\n$/.test(`${tokens[count - 2]?.raw ?? ''}${tokens[count - 1]?.raw ?? ''}`))
    count -= 1
  return count
}

/** Reads only what is new since `before`, and its last blocks. A text that is not a continuation starts over. */
export function growMarkdown(before: GrowingMarkdown, source: string): GrowingMarkdown {
  if (source === before.source) return before
  const { settled, offset } = source.startsWith(before.source) ? before : EMPTY
  const tokens = marked.lexer(source.slice(offset))
  const done = tokens.slice(0, countSettled(tokens))
  const nowSettled = [...settled, ...blocksOf(done, settled.length)]
  const open = blocksOf(tokens.slice(done.length), nowSettled.length)
  const last = open.pop()
  return {
    source,
    settled: nowSettled,
    offset: offset + done.reduce((length, token) => length + token.raw.length, 0),
    // A blank line after it, and the last block says all that it will say.
    tail: last ? [...open, ...(last.token === tokens.at(-1) ? closeOpenEnd(last) : [last])] : open,
  }
}
