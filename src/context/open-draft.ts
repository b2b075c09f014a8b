import { expectNumber, expectOption } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import { pathTo } from '../message/tree.ts'
import { type Draft, type DroppedMessage, type Policy, type Space, turnOf } from './draft.ts'
import type { Estimates } from './kept-estimates.ts'
import { roughly } from './rough.ts'
import { turnsOf } from './turns.ts'

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
  /** Most tokens of all that is sent, as estimated. @default the window without the reserve */
  room?: number
  /** `createEstimator({ model, ...overheadsOf(model), media: mediaTokens })`. @default by lengths alone, off by a fifth and more */
  estimate?: Estimates
  /** What becomes of an answer that was cut off: its text with a mark, or nothing. @default 'text' */
  interrupted?: 'text' | 'drop'
  /** What is done to the draft, one after another, before it is cut to the window. @default none */
  policies?: readonly Policy[]
}

/** A draft as it is before any policy, and what it is to fit into. */
export interface OpenDraft {
  draft: Draft
  space: Space
  /** The instructions, and the message that holds them, where one does. */
  system: string | undefined
  systemId: string | undefined
  tools: readonly ContextTool[] | undefined
  /** Tokens of what is never cut. */
  fixed: { system: number; tools: number }
  /** Tokens for everything: the window without the reserve. */
  room: number
}

const DEFAULT_RESERVE = 4_096

/**
 * What stands beside the messages, and what a request costs by itself: that is counted with the instructions. Whoever only
 * counts text knows of text alone.
 */
function fixedOf(estimate: Estimates, system: string | undefined, tools: AssembleOptions['tools']) {
  const { text, measure, cost } = estimate
  if (!measure || !cost)
    return {
      system: system === undefined ? 0 : text(system),
      tools: tools?.length ? text(JSON.stringify(tools)) : 0,
    }
  const bare = cost(measure({ messages: [], system }))
  return { system: bare, tools: tools?.length ? cost(measure({ messages: [], system, tools })) - bare : 0 }
}

/** The selected branch, and what is on others. */
function branchOf(messages: Iterable<Message>, headId: string | null | undefined) {
  if (headId === undefined) return { branch: messages, others: [] as DroppedMessage[] }
  const given = [...messages]
  const branch = pathTo(given, headId)
  const left = new Set(branch)
  const ids = new Set(branch.map((message) => message.id))
  const others = given
    .filter((message) => !left.delete(message))
    .map(({ id }): DroppedMessage => ({ id, reason: ids.has(id) ? 'duplicate' : 'branch' }))
  return { branch, others }
}

/** Reads a history as a draft: all that may be sent, in turns, with what it costs. */
export function openDraft(options: AssembleOptions): OpenDraft {
  const { messages }: Partial<AssembleOptions> = options ?? {}
  expectOption(
    typeof messages === 'object' && messages !== null && Symbol.iterator in messages,
    'messages: expected a list of messages',
  )
  const { window, tools, estimate = roughly, interrupted = 'text' } = options
  const { reserve = window === undefined ? 0 : Math.min(DEFAULT_RESERVE, Math.floor(window / 4)) } = options
  const left = window === undefined ? undefined : window - reserve
  expectNumber('window less the reserve', left, 1)
  expectNumber('reserve', reserve)
  expectNumber('room', options.room)
  const { branch, others } = branchOf(messages, options.headId)
  const found = turnsOf(branch, { system: options.system, interrupted })
  const system = options.system ?? found.system?.text
  const fixed = fixedOf(estimate, system, tools)
  // The items are ours and new: of a long history, copies would cost more than all the rest.
  const turns = found.turns.map((items) => {
    for (const item of items) item.tokens = estimate.message(item.message)
    return turnOf(items)
  })
  const dropped: DroppedMessage[] = others
  for (const one of found.dropped) dropped.push(one)
  const most = options.room ?? Number.POSITIVE_INFINITY
  const room = Math.min(most, left ?? most)
  const space = { available: room - fixed.system - fixed.tools, estimate }
  const systemId = found.system?.id
  return {
    draft: { turns, notes: [], dropped, loose: found.loose },
    space,
    system,
    systemId,
    tools,
    fixed,
    room,
  }
}
