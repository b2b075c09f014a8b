import { type Json, turnsOf } from './anthropic-turns.ts'
import type { CallOptions, EncodedRequest, ModelContext } from './contract.ts'
import { toolsOf } from './tools.ts'

/** A model call as the body of a Messages request. Throws `invalid-request` for a tool choice that names no tool. */
export function encodeMessages(
  context: ModelContext,
  options: CallOptions & { model: string; stream?: boolean },
  provider: string,
): EncodedRequest {
  const {
    model,
    stream = true,
    toolChoice: choice,
    stop = [],
    temperature,
    topP,
    output,
    cache,
    extra,
  } = options
  const generation = generationOf(model)
  const tools = toolsOf(context, choice)
  const isForced = tools.length > 0 && choice !== undefined && choice !== 'auto' && choice !== 'none'
  const { thinking, effort, budget = 0 } = thinkingOf(model, generation, isForced ? 'none' : options.thinking)
  const thinks = thinking !== undefined && thinking.type !== 'disabled'
  const { maxOutputTokens: most = generation < 305 ? 4_096 : generation < 307 ? 8_192 : 32_000 } = options
  const mark = cache && { cache_control: { type: 'ephemeral', ...(cache === 'long' && { ttl: '1h' }) } }
  const rules = { provider, system: generation >= 408, prefill: generation < 406 && !thinks }
  const { system, turns } = turnsOf(context, rules)
  Object.assign(turns.findLast(({ role }) => role === 'user')?.content.at(-1) ?? {}, mark)
  const stops = stop.filter((text) => text.trim() !== '')
  const body: Json = {
    model,
    // More than the thinking alone.
    max_tokens: most > budget ? most : most + budget,
    ...(stream && { stream }),
    system: system === '' ? undefined : mark ? [{ type: 'text', text: system, ...mark }] : system,
    messages: turns,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters, strict }, i) => ({
        name,
        description,
        input_schema: parameters,
        strict,
        ...(i === tools.length - 1 && mark),
      })),
      tool_choice: choiceOf(choice),
    }),
    stop_sequences: stops.length > 0 ? stops : undefined,
    // One of the two at most, and neither with thinking.
    ...(generation < 407 &&
      !thinks &&
      (temperature === undefined ? { top_p: topP } : { temperature: Math.min(1, temperature) })),
    thinking,
    ...((effort || output) && {
      output_config: { effort, format: output && { type: 'json_schema', schema: output.schema } },
    }),
    ...extra,
  }
  return {
    path: '/messages',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body,
  }
}

/**
 * A Claude's generation, such as 405 for 4.5: the newest where its name does not say, 307 for models of others that speak
 * this dialect.
 */
function generationOf(model: string): number {
  const [, major, minor = 0] = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d\d?)(?!\d))?/.exec(model) ?? []
  return major ? Number(major) * 100 + Number(minor) : model.includes('claude') ? 999 : 307
}

/** Tokens of thinking, where a model wants a number. */
const BUDGETS = { none: 0, minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, max: 24_576 } as const

/** Older models want a budget, newer ones decide by themselves under an effort, some cannot help thinking. */
function thinkingOf(model: string, generation: number, effort: CallOptions['thinking']) {
  if (effort === undefined || generation < 307) return {}
  if (generation < 406) {
    const budget = BUDGETS[effort]
    return budget > 0 ? { thinking: { type: 'enabled', budget_tokens: budget }, budget } : {}
  }
  if (effort === 'none') return /fable|mythos/.test(model) ? {} : { thinking: { type: 'disabled' } }
  // Unless it is asked for, the newest do not show what they think.
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: effort === 'minimal' ? 'low' : effort,
  }
}

function choiceOf(choice: CallOptions['toolChoice']): Json | undefined {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name }
  return choice && { type: choice === 'required' ? 'any' : choice }
}
