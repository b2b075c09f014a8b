import { TidemarkError } from '../lib/errors.ts'
import type { Message } from '../message/schema.ts'
import { pathTo } from '../message/tree.ts'
import { createEstimator, type Estimator } from './estimate.ts'
import type { DropReason } from './sendable.ts'
import { type Item, type Turn, turnsOf } from './turns.ts'

/** A tool as far as a context needs to know it. */
export interface ContextTool {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Readonly<Record<string, unknown>>
}

export interface AssembleOptions {
  /** The selected branch, oldest first; with `headId`, all messages of the session in any order. */
  messages: Iterable<Message>
  /** Last message of the branch to send. Without it, `messages` is that branch. */
  headId?: string | null
  /** Instructions; they win over a system message of the history, which then goes in as a note. */
  system?: string
  tools?: readonly ContextTool[]
  /** Tokens the model can hold, question and answer together. @default no limit */
  window?: number
  /** Tokens of the window that are left to the answer. @default a quarter of the window, at most 4,096 */
  reserve?: number
  /** @default createEstimator() */
  estimate?: Pick<Estimator, 'text' | 'message'>
  /** What becomes of an answer that was cut off: its text with a mark, or nothing. @default 'text' */
  interrupted?: 'text' | 'drop'
}

/** Why a message is in a context. */
export type IncludeReason =
  /** It holds the instructions: it is in `system`, not in `messages`. */
  | 'system'
  /** The newest user message, and what answers it so far. */
  | 'newest'
  /** An earlier turn, whole. */
  | 'history'
  /** An answer that was cut off, as marked text. */
  | 'interrupted'
  /** Instructions that came in mid-session, as a marked note of the user. */
  | 'note'

export interface IncludedMessage {
  id: string
  reason: IncludeReason
  /** As estimated, of what is sent. */
  tokens: number
}

export interface DroppedMessage {
  id: string
  reason: DropReason
  /** As estimated, where the size was the reason. */
  tokens?: number
}

/** What one model call gets to see, and why. Can be given to a model as it is. */
export interface AssembledContext {
  system?: string
  /** Oldest first: messages of the history themselves, or derived copies that bear the same id. */
  messages: Message[]
  tools?: readonly ContextTool[]
  /** As estimated, everything together. */
  tokens: number
  /** With `dropped`, every message that was given, once. */
  included: IncludedMessage[]
  dropped: DroppedMessage[]
}

const DEFAULT_RESERVE = 4_096

interface CountedItem extends Item {
  tokens: number
}

interface CountedTurn {
  items: readonly CountedItem[]
  tokens: number
}

function count(turn: Turn, estimate: Pick<Estimator, 'message'>): CountedTurn {
  let tokens = 0
  const items: CountedItem[] = []
  for (const item of turn) {
    const own = estimate.message(item.message)
    tokens += own
    items.push({ ...item, tokens: own })
  }
  return { items, tokens }
}

/** Index of the oldest turn that is sent: the newest ones, without a hole between them. Throws where not even the last one fits. */
function oldestThatFits(turns: readonly CountedTurn[], fixed: number, available: number): number {
  let first = turns.length
  let used = fixed
  for (let turn = turns[first - 1]; turn && used + turn.tokens <= available; turn = turns[first - 1]) {
    used += turn.tokens
    first--
  }
  if (first === turns.length && fixed + (turns.at(-1)?.tokens ?? 0) > available) {
    const needed = fixed + (turns.at(-1)?.tokens ?? 0)
    throw new TidemarkError(
      'context-overflow',
      `the newest turn needs ${needed} tokens (${fixed} of them instructions and tools), there is room for ${available}`,
      { tokens: { needed, available } },
    )
  }
  return first
}

/** The selected branch, and what is on others. */
function branchOf(messages: Iterable<Message>, headId: string | null | undefined) {
  if (headId === undefined) return { branch: messages, others: [] }
  const given = [...messages]
  const branch = pathTo(given, headId)
  const ids = new Set(branch.map((message) => message.id))
  return { branch, others: given.filter((message) => !ids.has(message.id)) }
}

const REASON: Readonly<Record<Item['as'], IncludeReason | undefined>> = {
  itself: undefined,
  text: 'interrupted',
  note: 'note',
}

/**
 * Decides what one model call gets to see, from all of the history, anew each time. Pure: nothing that is given is
 * changed, and the same input gives the same output.
 *
 * - Only settled messages of the branch: what failed, is empty or still pending is out; what was cut off goes in as text
 *   with a mark, without its calls, or stays out.
 * - One system prompt, first, never cut.
 * - Turns are sent or dropped whole, oldest first; a call and its result are together or not there.
 * - The newest turn is always in. User messages whose answers are all out may stand side by side.
 *
 * Throws `context-overflow`, with the numbers in `data.tokens`, where instructions, tools and the newest turn alone exceed
 * what the window leaves beside the reserve.
 */
export function assembleContext(options: AssembleOptions): AssembledContext {
  const { headId, tools, window, interrupted = 'text', estimate = createEstimator() } = options
  const { reserve = window === undefined ? 0 : Math.min(DEFAULT_RESERVE, Math.ceil(window / 4)) } = options
  const { branch, others } = branchOf(options.messages, headId)
  const found = turnsOf(branch, { system: options.system, interrupted })
  const system = options.system ?? found.system?.text
  const systemTokens = system === undefined ? 0 : estimate.text(system)
  const toolTokens = tools?.length ? estimate.text(JSON.stringify(tools)) : 0
  const turns = found.turns.map((turn) => count(turn, estimate))
  const fixed = systemTokens + toolTokens
  const first = oldestThatFits(
    turns,
    fixed,
    window === undefined ? Number.POSITIVE_INFINITY : window - reserve,
  )
  const messages: Message[] = []
  const included: IncludedMessage[] = []
  const dropped: DroppedMessage[] = others.map(({ id }) => ({ id, reason: 'branch' }))
  for (const one of found.dropped) dropped.push(one)
  if (found.system) included.push({ id: found.system.id, reason: 'system', tokens: systemTokens })
  let total = fixed
  for (const [place, turn] of turns.entries()) {
    const kept = place >= first
    if (kept) total += turn.tokens
    for (const { message, as, tokens } of turn.items) {
      if (kept) messages.push(message)
      if (kept)
        included.push({
          id: message.id,
          reason: REASON[as] ?? (place === turns.length - 1 ? 'newest' : 'history'),
          tokens,
        })
      else dropped.push({ id: message.id, reason: 'budget', tokens })
    }
  }
  return {
    messages,
    tokens: total,
    included,
    dropped,
    ...(system !== undefined && { system }),
    ...(tools && { tools }),
  }
}
