import type { EncodedCall, ReplayCall, ReplayContext } from './adapter.ts'
import { type Json, turnsOf } from './anthropic-turns.ts'
import type { CallOptions, ToolSpec } from './contract.ts'

/** A model call as a Messages request. */
export function encodeMessages(context: ReplayContext, options: ReplayCall): EncodedCall {
  const { model, stream, toolChoice, stop = [], output, cache } = options
  const generation = generationOf(model)
  const tools = context.tools.map(toolOf)
  const choice = choiceOf(toolChoice)
  const { thinking, effort, budget = 0 } = thinkingOf(options, generation, choice, isUnproven(context))
  const samples = !effort && !budget && generation < 407
  const { instructions, turns } = turnsOf(context, {
    system: generation >= 408,
    prefill: samples && takesPrefill(model),
  })
  if (cache) {
    const hint = { cache_control: { type: 'ephemeral', ttl: cache === 'long' ? '1h' : undefined } }
    const question = turns.findLast(({ role }) => role === 'user')?.content ?? []
    for (const list of [tools, instructions, question]) Object.assign(list.at(-1) ?? {}, hint)
  }
  const body: Json = {
    model,
    max_tokens: limitOf(options, generation, budget),
    stream: stream || undefined,
    system: some(instructions),
    messages: turns,
    tools: some(tools),
    tool_choice: choice,
    stop_sequences: some(stop.filter((text) => text.trim() !== '')),
    ...(samples && samplingOf(options)),
    thinking,
    output_config: (effort || output) && {
      effort,
      format: output && { type: 'json_schema', schema: output.schema },
    },
  }
  return { path: '/messages', headers: { 'anthropic-version': '2023-06-01' }, body }
}

/** An empty list is refused, or means something else than none. */
const some = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)

/**
 * A Claude's generation, such as 405 for 4.5: the newest where its name does not say, 307 for models of others that speak
 * this dialect.
 */
function generationOf(model: string): number {
  const [, major, minor = 0] = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d\d?)(?!\d))?/.exec(model) ?? []
  return major ? Number(major) * 100 + Number(minor) : model.includes('claude') ? 999 : 307
}

/** "Prefilling assistant messages is not supported" from Claude 4.6 on. */
export const takesPrefill = (model: string): boolean => generationOf(model) < 406

const toolOf = ({ name, description, parameters, strict }: ToolSpec): Json => ({
  name,
  description,
  input_schema: parameters,
  strict,
})

function choiceOf(choice: CallOptions['toolChoice']): Json | undefined {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name }
  return choice && { type: choice === 'required' ? 'any' : choice }
}

/** Tokens of thinking, where a model wants a number. */
const BUDGETS = { none: 0, minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, max: 24_576 } as const

/**
 * Older models want a budget, newer ones decide by themselves under an effort, some cannot help thinking. None may think
 * before a call that is forced.
 */
function thinkingOf(
  { model, thinking }: ReplayCall,
  generation: number,
  choice: Json | undefined,
  unproven: boolean,
) {
  const effort = choice?.type === 'any' || choice?.type === 'tool' ? 'none' : thinking
  if (effort === undefined || generation < 307) return {}
  if (generation < 406) {
    const budget = unproven ? 0 : BUDGETS[effort]
    return { budget, thinking: budget > 0 ? { type: 'enabled', budget_tokens: budget } : undefined }
  }
  if (effort === 'none') return { thinking: /fable|mythos/.test(model) ? undefined : { type: 'disabled' } }
  // Unless it is asked for, the newest do not show what they think.
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: effort === 'minimal' ? 'low' : effort,
  }
}

/**
 * Whether calls are open that were made without thinking that can be shown. Older models do not begin to think there: "When
 * `thinking` is enabled, a final `assistant` message must start with a thinking block".
 */
function isUnproven({ entries }: ReplayContext): boolean {
  const [first] = entries.slice(entries.findLastIndex(({ role }) => role !== 'assistant') + 1)
  if (first?.role !== 'assistant' || !first.results[0]) return false
  const [began] = first.content
  return began?.type !== 'thinking' || began.signature === undefined
}

/** There must be a limit. It is of thinking and answer together, and has to leave room for the answer. */
function limitOf({ maxOutputTokens }: ReplayCall, generation: number, budget: number): number {
  const limit = maxOutputTokens ?? (generation < 305 ? 4_096 : generation < 307 ? 8_192 : 32_000)
  return limit > budget ? limit : limit + budget
}

/** One of the two: both are refused. */
const samplingOf = ({ temperature, topP }: ReplayCall): Json =>
  temperature === undefined ? { top_p: topP } : { temperature: Math.min(1, temperature) }
