import { expectNumber } from '../lib/expect.ts'
import type { ToolMessage } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { clipped, clipText } from './clip.ts'
import {
  changedItem,
  type Draft,
  type DraftItem,
  type DraftTurn,
  mapItems,
  type Policy,
  remembered,
  type Space,
  turnOf,
} from './draft.ts'

/** Tokens of a result that is short already. */
const SHORT = 40
/** Characters of a conclusion. */
const CONCLUSION = 280
/** Characters of an error. */
const ERROR = 160
/** Characters of a text within a conclusion. */
const WORD = 80

/** JSON that was read, made short: facts stay, lists are counted, depth is cut. */
function brief(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return value.length > WORD ? `${clipText(value, WORD).split('\n')[0]} …` : value
  if (Array.isArray(value)) {
    if (value.length <= 3 && value.every((one) => typeof one !== 'object'))
      return value.map((one) => brief(one, depth))
    return depth > 2
      ? `${value.length} items`
      : [`${value.length} items, the first`, brief(value[0], depth + 1)]
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  if (depth > 2) return `${entries.length} fields`
  return Object.fromEntries(entries.slice(0, 12).map(([name, field]) => [name, brief(field, depth + 1)]))
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? ''

/** What went wrong, in a line: without the stack. */
function errorLine(message: ToolMessage): string {
  const text = textOf(message)
  const value = parsed(text)
  const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined
  const nested = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return clipText(firstLine(typeof nested === 'string' ? nested : text), ERROR)
}

/**
 * What is left to know of an old result: of JSON its facts, with lists counted and depth cut; of other text its beginning
 * and its end.
 */
export function conclusionOf(message: ToolMessage): string {
  const text = textOf(message)
  const value = parsed(text)
  return clipText(value === undefined ? text.trim() : JSON.stringify(brief(value, 0)), CONCLUSION)
}

/** The result with this text and nothing else, where that is shorter. */
function withText(item: DraftItem, text: string, space: Space): DraftItem {
  const { message } = item
  if (message.role !== 'tool') return item
  const made = changedItem(item, { ...message, content: [{ type: 'text', text }] }, 'compacted', space)
  return made.tokens < item.tokens ? made : item
}

export interface CompactOptions {
  /** Results of so many turns stay, the newest one included. @default 5 */
  turns?: number
  /** Errors of so many turns stay, so that nothing is tried twice; then a line of them does. @default 3 */
  errors?: number
  /** What is left to know of a result. @default conclusionOf */
  conclude?: (result: ToolMessage) => string
}

/** Makes a result short. */
const shortener = (conclude: (result: ToolMessage) => string) =>
  remembered((item, space) => {
    const { message } = item
    if (message.role !== 'tool' || item.tokens <= SHORT) return item
    return withText(
      item,
      message.isError ? `[failed] ${errorLine(message)}` : `[shortened] ${conclude(message)}`,
      space,
    )
  })

/** Puts the conclusion of old tool results in their place: they were read, and what was in them has been said. */
export function compactResults({
  turns = 5,
  errors = 3,
  conclude = conclusionOf,
}: CompactOptions = {}): Policy {
  expectNumber('turns', turns)
  expectNumber('errors', errors)
  const shorten = shortener(conclude)
  return {
    name: 'compact',
    apply: (draft, space) =>
      mapItems(draft, (item, age) => {
        const { message } = item
        return message.role === 'tool' && age >= (message.isError ? errors : turns)
          ? shorten(item, space)
          : item
      }),
  }
}

/** Where the last step of a turn begins: the last answer with its results. */
const lastStep = (items: readonly DraftItem[]): number =>
  items.findLastIndex(({ message }) => message.role === 'assistant')

/**
 * For a turn of many steps that alone is too long: results of its earlier steps give way to their conclusion, oldest first,
 * and then those of its last step are cut, as far as is needed, also for the pins to have room beside it. Other turns stay as they
 * are.
 */
export function squeezeNewest({ conclude = conclusionOf }: Pick<CompactOptions, 'conclude'> = {}): Policy {
  const shorten = shortener(conclude)
  return {
    name: 'squeeze',
    apply(draft, space) {
      const turn = draft.turns.at(-1)
      if (!turn) return draft
      let over = turn.tokens + pinnedBeside(draft, turn, space) - space.available
      if (over <= 0) return draft
      const items = [...turn.items]
      const replace = (at: number, made: DraftItem) => {
        over -= (items[at]?.tokens ?? 0) - made.tokens
        items[at] = made
      }
      for (const [at, item] of turn.items.entries())
        if (over > 0 && at < lastStep(turn.items)) replace(at, shorten(item, space))
      for (const [at, item] of items.entries())
        if (over > 0 && item.message.role === 'tool')
          replace(at, clipped(item, Math.max(SHORT, item.tokens - over), space))
      return withNewest(draft, items)
    },
  }
}

/** Tokens of pins that a turn does not hold itself; at most half of the space, since more would squeeze the turn in vain. */
function pinnedBeside({ notes }: Draft, { items }: DraftTurn, { available }: Space): number {
  const held = new Set(items.map(({ message }) => message.id))
  let tokens = 0
  for (const note of notes)
    if (note.kind === 'pins' && (note.of === undefined || !held.has(note.of))) tokens += note.tokens
  return Math.min(tokens, available / 2)
}

const withNewest = (draft: Draft, items: readonly DraftItem[]): Draft => ({
  ...draft,
  turns: [...draft.turns.slice(0, -1), turnOf(items)],
})
