import type { AssistantBlock, UserBlock } from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { ReplayContext } from './adapter.ts'
import type { CallIdRule } from './call-ids.ts'
import { parseJson, record, string } from './json.ts'
import { argumentsOf, asUserText, isCommonImage, nameOf, notShown, type ReplayEntry } from './replay.ts'

/** A field that is undefined is not sent. */
export type Json = Record<string, unknown>

/** One message of a request. */
export interface Turn {
  role: 'user' | 'assistant' | 'system'
  content: Json[]
}

/** What a model takes of a history. */
export interface TurnRules {
  /** Instructions in mid-history, of the role `system`. */
  system: boolean
  /** An answer at the end, to be continued. */
  prefill: boolean
}

/** "String should match pattern '^[a-zA-Z0-9_-]+$'" */
export const CALL_ID: CallIdRule = { own: /^[\w-]+$/, foreign: /^[\w-]+$/, prefix: 'toolu_' }

/** A history as the instructions and messages of a request: roles alternate, results come first, calls last. */
export function turnsOf(
  { system, entries }: ReplayContext,
  rules: TurnRules,
): { instructions: Json[]; turns: Turn[] } {
  const instructions = system ? [textPart(system)] : []
  const turns: Turn[] = []
  const all = paired(entries.flatMap(turnsOfEntry))
  for (const [i, { role, content }] of all.entries()) {
    const before = turns.at(-1)
    if (role !== 'system') add(turns, role, content)
    else if (!before) instructions.push(...content)
    // Only between a user and an answer; elsewhere a user says it.
    else if (rules.system && before.role === 'user' && (all[i + 1]?.role ?? 'assistant') === 'assistant')
      add(turns, role, content)
    else add(turns, 'user', [textPart(asUserText(string(content[0]?.text)))])
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [textPart('Continue.')] })
  const end = turns.at(-1)
  const block = end?.content.at(-1)
  if (end?.role === 'assistant' && block?.type === 'text') {
    if (rules.prefill) block.text = string(block.text).trimEnd()
    else add(turns, 'user', [textPart('Continue.')])
  }
  return { instructions, turns }
}

const textPart = (text: string): Json => ({ type: 'text', text })

/** Messages of one role are one. */
function add(turns: Turn[], role: Turn['role'], content: Json[]): void {
  const last = turns.at(-1)
  if (last?.role === role) last.content.push(...content)
  else turns.push({ role, content })
}

function turnsOfEntry(entry: ReplayEntry): Turn[] {
  const { role } = entry
  if (role === 'system') return [{ role, content: [textPart(entry.text)] }]
  if (role === 'user') return [{ role, content: entry.content.map(partOf) }]
  const results = entry.results.map(({ call, content, isError }) => ({
    type: 'tool_result',
    tool_use_id: call.id,
    content: content.length > 0 ? content.map(partOf) : undefined,
    is_error: isError,
  }))
  const blocks = entry.content.flatMap(blockOf)
  const isCall = ({ type }: Json) => Number(type === 'tool_use')
  return [
    { role, content: blocks.sort((one, other) => isCall(one) - isCall(other)) },
    { role: 'user', content: results },
  ]
}

function partOf(block: UserBlock): Json {
  if (block.type === 'text') return textPart(block.text)
  const { type, mimeType, data, url = '', name } = block
  const isTaken = type === 'image' ? isCommonImage(mimeType) : mimeType === 'application/pdf'
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mimeType, data }
  if (data === undefined ? !/^https?:/.test(url) : !isTaken) return notShown(block)
  return type === 'image' ? { type, source } : { type: 'document', source, title: name }
}

/** A block of an answer as it goes back; nothing where it would be refused. What only Anthropic knows of it is in its signature. */
function blockOf(block: AssistantBlock): Json[] {
  if (block.type === 'other') return isRecord(block.raw) ? [block.raw] : []
  if (block.type === 'thinking') {
    const { text, signature, redacted } = block
    if (signature === undefined) return []
    return [
      redacted
        ? { type: 'redacted_thinking', data: signature }
        : { type: 'thinking', thinking: text, signature },
    ]
  }
  if (block.type === 'image') return [notShown(block)]
  if (block.type === 'source') return []
  const more = record(parseJson(block.signature ?? '')?.value)
  if (block.type === 'text') return [{ ...more, ...textPart(block.text) }]
  return [{ type: 'tool_use', ...more, id: block.id, name: nameOf(block, 128), input: argumentsOf(block) }]
}

/**
 * Turns that say something, without server calls that have no result, results that have no call, and thinking that nothing
 * follows: all are refused. A call at the end may still be waiting, for the server or for the results of our own calls.
 */
function paired(given: Turn[]): Turn[] {
  const turns = given.filter(({ content }) => content.length > 0)
  const blocks = turns.flatMap(({ content }) => content)
  const calls = new Set(blocks.map(({ id }) => id))
  const results = new Set(blocks.map(({ tool_use_id }) => tool_use_id))
  const last = turns.at(turns.at(-1)?.content[0]?.type === 'tool_result' ? -2 : -1)
  const waiting = last?.content.findLast((block) => !isThinking(block))?.type === 'text' ? undefined : last
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue
    turn.content = turn.content.filter(({ type, id, tool_use_id: result }) => {
      if (string(type).endsWith('_tool_use')) return turn === waiting || results.has(id)
      return result === undefined || calls.has(result)
    })
    while (isThinking(turn.content.at(-1))) turn.content.pop()
  }
  return turns.filter(({ content }) => content.length > 0)
}

const isThinking = (block: Json | undefined): boolean => string(block?.type).endsWith('thinking')
