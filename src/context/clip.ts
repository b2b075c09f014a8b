import { expectNumber } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import { changedItem, type DraftItem, mapItems, type Policy, remembered, type Space } from './draft.ts'

/** How far back a better border is looked for: this part of what is kept. */
const SEARCH = 5

/** Where a text may be cut, the better places first. */
const BORDERS: readonly string[] = ['\n\n', '\n', '. ', '。', ' ']

const BELONGS_BEFORE = /^(?:[\p{M}\p{EMod}]|\u200d)/u

/** Whether what a reader sees as one character would be cut at this place. */
function isInside(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  const before = text.charCodeAt(at - 1)
  if (unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff) return true
  return before === 0x200d || BELONGS_BEFORE.test(text.slice(at, at + 2))
}

/** A place to cut at or before `at`: the end of a paragraph, line, sentence or word, where one is near. */
function borderBefore(text: string, at: number): number {
  const least = at - Math.floor(at / SEARCH)
  for (const border of BORDERS) {
    const found = text.lastIndexOf(border, at - border.length)
    if (found >= least) return found + border.length
  }
  let place = at
  while (place > 0 && isInside(text, place)) place--
  return place
}

/** A place to go on at or behind `at`. */
function borderAfter(text: string, at: number): number {
  const most = at + Math.floor((text.length - at) / SEARCH)
  for (const border of BORDERS) {
    const found = text.indexOf(border, at)
    if (found !== -1 && found + border.length <= most) return found + border.length
  }
  let place = at
  while (place < text.length && isInside(text, place)) place++
  return place
}

const FENCE = '```'
/** Whether a text ends inside of a fenced block of Markdown. */
const isFenced = (text: string): boolean => text.split(FENCE).length % 2 === 0

/** Of what is kept of a text, this part is its beginning. */
const HEAD = 2 / 3

/**
 * A text cut to about so many characters: its beginning and its end, cut at the end of a line or a word where one is near and
 * never within a character, with a mark between that says how much is missing. A fenced block that is cut is closed, and
 * opened again. The very same text where it is not longer.
 */
export function clipText(text: string, characters: number): string {
  if (text.length <= characters) return text
  const first = borderBefore(text, Math.floor(characters * HEAD))
  const second = borderAfter(text, Math.max(first, text.length - Math.floor(characters * (1 - HEAD))))
  const head = text.slice(0, first).trimEnd()
  const tail = text.slice(second).trimStart()
  const missing = text.length - head.length - tail.length
  const fence = isFenced(head) ? `\n${FENCE}` : ''
  const opened = isFenced(tail) ? `${FENCE}\n` : ''
  return [`${head}${fence}`, `[… ${missing} characters left out …]`, `${opened}${tail}`]
    .filter((part) => part !== '')
    .join('\n')
}

/** The message with its texts cut in proportion, so that all of it is about so many tokens. */
export function clipMessage(message: Message, tokens: number, limit: number): Message {
  const part = limit / tokens
  const cut = <Block extends { type: string }>(block: Block): Block =>
    block.type === 'text' && 'text' in block && typeof block.text === 'string'
      ? { ...block, text: clipText(block.text, Math.floor(block.text.length * part)) }
      : block
  switch (message.role) {
    case 'tool':
      return { ...message, content: message.content.map(cut) }
    case 'user':
      return { ...message, content: message.content.map(cut) }
    case 'assistant':
      return { ...message, content: message.content.map(cut) }
    case 'system':
      return message
  }
}

/** An item of at most so many tokens, as far as cutting its texts can do that. */
export function clipped(item: DraftItem, limit: number, space: Space): DraftItem {
  let made = item
  // The estimate of a part is not that part of the estimate.
  for (let share = limit, round = 0; made.tokens > limit && round < 4; round++) {
    made = changedItem(item, clipMessage(item.message, item.tokens, share), 'clipped', space)
    share = Math.floor((share * limit * 0.95) / Math.max(1, made.tokens))
  }
  return made.tokens < item.tokens ? made : item
}

export interface ClipOptions {
  /** Most tokens of a tool's result. @default 2_000 */
  results?: number
  /** Most tokens of any other message of an earlier turn. @default no limit */
  others?: number
}

/** Cuts what is too large by itself: beginning and end stay, with a mark between. The newest question is never cut. */
export function clipBlocks({ results = 2_000, others = Number.POSITIVE_INFINITY }: ClipOptions = {}): Policy {
  expectNumber('results', results)
  expectNumber('others', others)
  const cutResult = remembered((item, space) => clipped(item, results, space))
  const cutOther = remembered((item, space) => clipped(item, others, space))
  return {
    name: 'clip',
    apply: (draft, space) =>
      mapItems(draft, (item, age) => {
        if (item.message.role === 'tool') return item.tokens > results ? cutResult(item, space) : item
        return age > 0 && item.tokens > others ? cutOther(item, space) : item
      }),
  }
}
