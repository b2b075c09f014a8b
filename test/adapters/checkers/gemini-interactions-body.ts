import * as z from 'zod/mini'

/** Requests of the Interactions API, as its reference has them: https://ai.google.dev/api/interactions-api */

const optionalText = z.optional(z.string())

const Text = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  annotations: z.optional(z.unknown()),
})
const Media = z.strictObject({
  type: z.enum(['image', 'audio', 'video', 'document']),
  data: optionalText,
  uri: optionalText,
  mime_type: optionalText,
  resolution: optionalText,
})
export const Content = z.discriminatedUnion('type', [Text, Media])
export type Content = z.infer<typeof Content>

const Said = z.union([z.string(), z.array(Content)])

const UserInput = z.strictObject({ type: z.literal('user_input'), content: Said })
const ModelOutput = z.strictObject({ type: z.literal('model_output'), content: Said })
const Thought = z.strictObject({
  type: z.literal('thought'),
  signature: optionalText,
  summary: z.optional(z.array(Content)),
})
const FunctionCall = z.strictObject({
  type: z.literal('function_call'),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  signature: optionalText,
})
const FunctionResult = z.strictObject({
  type: z.literal('function_result'),
  call_id: z.string(),
  name: optionalText,
  result: z.union([z.string(), z.array(Content)]),
  is_error: z.optional(z.boolean()),
})
/** What the server ran, and what came of it. */
const ServerStep = z.looseObject({ type: z.string().check(z.regex(/^(?!function_)\w+_(call|result)$/)) })

export const Step = z.union([UserInput, ModelOutput, Thought, FunctionCall, FunctionResult, ServerStep])
export type Step = z.infer<typeof Step>

export const isUserInput = (step: Step): step is z.infer<typeof UserInput> => step.type === 'user_input'
export const isModelOutput = (step: Step): step is z.infer<typeof ModelOutput> => step.type === 'model_output'
export const isThought = (step: Step): step is z.infer<typeof Thought> => step.type === 'thought'
export const isCall = (step: Step): step is z.infer<typeof FunctionCall> => step.type === 'function_call'
export const isResult = (step: Step): step is z.infer<typeof FunctionResult> =>
  step.type === 'function_result'

/** What a step of a user, or of the model, says. */
export const contentOf = (step: Step): Content[] => {
  if (!isUserInput(step) && !isModelOutput(step)) return []
  return typeof step.content === 'string' ? [{ type: 'text', text: step.content }] : step.content
}

const Choice = z.enum(['auto', 'any', 'none', 'validated'])
const Tool = z.looseObject({ type: z.string(), name: optionalText })

export const InteractionBody = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), Content, z.array(Step), z.array(Content)]),
  system_instruction: optionalText,
  tools: z.optional(z.array(Tool)),
  response_format: z.optional(z.union([z.looseObject({}), z.array(z.looseObject({ type: z.string() }))])),
  response_modalities: z.optional(z.array(z.string())),
  generation_config: z.optional(
    z.strictObject({
      max_output_tokens: z.optional(z.number()),
      seed: z.optional(z.number()),
      stop_sequences: z.optional(z.array(z.string())),
      temperature: z.optional(z.number()),
      top_p: z.optional(z.number()),
      thinking_level: z.optional(z.enum(['minimal', 'low', 'medium', 'high'])),
      thinking_summaries: z.optional(z.enum(['auto', 'none'])),
      tool_choice: z.optional(
        z.union([
          Choice,
          z.strictObject({
            allowed_tools: z.strictObject({ mode: z.optional(Choice), tools: z.array(z.string()) }),
          }),
        ]),
      ),
    }),
  ),
  previous_interaction_id: optionalText,
  service_tier: optionalText,
  background: z.optional(z.boolean()),
  store: z.optional(z.boolean()),
  stream: z.optional(z.boolean()),
})
export type InteractionBody = z.infer<typeof InteractionBody>

/** The input as steps, in whatever short form it came. */
export function stepsIn({ input }: InteractionBody): Step[] {
  const list = Array.isArray(input) ? input : [input]
  return list.map((item): Step => {
    if (typeof item === 'string') return { type: 'user_input', content: item }
    const content = Content.safeParse(item)
    return content.success ? { type: 'user_input', content: [content.data] } : Step.parse(item)
  })
}

/** What goes over the wire: undefined fields are gone. */
export const sentInteraction = (body: unknown): InteractionBody =>
  InteractionBody.parse(JSON.parse(JSON.stringify(body)))
