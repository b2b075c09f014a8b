import * as z from 'zod/mini'

const CallId = z.string().check(z.minLength(1), z.maxLength(64))
const Name = z.string().check(z.regex(/^[a-zA-Z0-9_-]{1,128}$/))
/** "Expected an ID that contains letters, numbers, underscores, or dashes"; S19: none that ends in an underscore. */
const id = z.optional(z.string().check(z.regex(/^[\w-]*[^\W_]$/)))

const Text = z.looseObject({ type: z.literal('input_text'), text: z.string() })
const Image = z.looseObject({
  type: z.literal('input_image'),
  image_url: z.optional(z.string().check(z.regex(/^(https?:|data:image\/(png|jpeg|gif|webp);base64,)/))),
})
/** "Expected a base64-encoded data URL with a valid file MIME type […], but got unsupported MIME type 'audio/mpeg'" */
const File = z.looseObject({
  type: z.literal('input_file'),
  filename: z.optional(z.string()),
  file_data: z.optional(z.string().check(z.regex(/^data:(?!audio|video)[^;,]+;base64,/))),
  file_url: z.optional(z.string().check(z.regex(/^https?:/))),
})
const Part = z.discriminatedUnion('type', [Text, Image, File])
const Said = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('output_text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
])
const content = <T extends z.ZodMiniType>(part: T) =>
  z.union([z.string(), z.array(part).check(z.minLength(1))])

/** "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'." */
const Message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['user', 'system', 'developer']), content: content(Part) }),
  z.looseObject({ role: z.literal('assistant'), id, content: content(Said) }),
])

const Reasoning = z.looseObject({
  type: z.literal('reasoning'),
  id,
  summary: z.array(z.looseObject({ type: z.literal('summary_text'), text: z.string() })),
  content: z.optional(z.array(z.looseObject({ type: z.literal('reasoning_text'), text: z.string() }))),
  encrypted_content: z.optional(z.nullable(z.string())),
})
const Call = z.looseObject({
  type: z.literal('function_call'),
  id,
  call_id: CallId,
  name: Name,
  arguments: z.string(),
})
const CustomCall = z.looseObject({
  type: z.literal('custom_tool_call'),
  id,
  call_id: CallId,
  name: Name,
  input: z.string(),
})
const Output = z.looseObject({
  type: z.enum(['function_call_output', 'custom_tool_call_output']),
  call_id: CallId,
  output: content(Part),
})
/**
 * What only the API itself writes: we cannot tell what is right, but for its names. "Invalid value: 'image_url'. Supported
 * values are: 'code_interpreter_call', 'computer_call', …": no part of a message is an item.
 */
const Other = z.looseObject({
  type: z
    .string()
    .check(
      z.regex(/^\w+(_call|_output|_tools|_request|_response|_reference|compaction|_type)$|^compaction$/),
      z.regex(/^(?!(function_call|function_call_output|custom_tool_call|custom_tool_call_output)$)/),
    ),
  id: z.optional(z.string()),
  call_id: z.optional(z.nullable(z.string())),
})

/** A message may leave its type out; everything else says what it is. */
const Item = z.union([
  Reasoning,
  Call,
  CustomCall,
  Output,
  Other,
  z.intersection(z.looseObject({ type: z.optional(z.literal('message')) }), Message),
])
export type Item = z.infer<typeof Item>

const Schema = z.looseObject({
  type: z.optional(z.string()),
  properties: z.optional(z.record(z.string(), z.unknown())),
  required: z.optional(z.array(z.string())),
})
const Tool = z.union([
  // "Missing required parameter: 'tools[0].name'.": not within another field, as Chat Completions has it
  z.looseObject({
    type: z.literal('function'),
    name: Name,
    parameters: z.optional(z.nullable(Schema)),
    strict: z.optional(z.nullable(z.boolean())),
  }),
  z.looseObject({ type: z.string().check(z.regex(/^(?!function$)/)) }),
])

export const ResponsesBody = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(Item).check(z.minLength(1))]),
  instructions: z.optional(z.nullable(z.string())),
  tools: z.optional(z.array(Tool)),
  tool_choice: z.optional(
    z.union([
      z.enum(['auto', 'none', 'required']),
      z.looseObject({ type: z.literal('function'), name: z.string() }),
      z.looseObject({ type: z.string().check(z.regex(/^(?!function$)/)) }),
    ]),
  ),
  // "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 10 instead."
  max_output_tokens: z.optional(z.int().check(z.minimum(16))),
  temperature: z.optional(z.number().check(z.minimum(0), z.maximum(2))),
  top_p: z.optional(z.number()),
  store: z.optional(z.boolean()),
  background: z.optional(z.boolean()),
  include: z.optional(z.array(z.string())),
  reasoning: z.optional(
    z.looseObject({
      effort: z.optional(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh'])),
      summary: z.optional(z.enum(['auto', 'concise', 'detailed'])),
    }),
  ),
  text: z.optional(
    z.looseObject({
      format: z.optional(
        z.discriminatedUnion('type', [
          z.looseObject({ type: z.literal('json_schema'), name: Name, schema: z.looseObject({}) }),
          z.looseObject({ type: z.enum(['text', 'json_object']) }),
        ]),
      ),
    }),
  ),
  /** Chat Completions' own: "Unsupported parameter". */
  messages: z.optional(z.never()),
  max_tokens: z.optional(z.never()),
  stop: z.optional(z.never()),
})
export type ResponsesBody = z.infer<typeof ResponsesBody>

/** What goes over the wire: undefined fields are gone. */
export const sentResponses = (body: unknown): ResponsesBody =>
  ResponsesBody.parse(JSON.parse(JSON.stringify(body)))

export const itemsIn = ({ input }: ResponsesBody): Item[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : input

/** What an item is: a message by its role. */
export const kindOf = (item: Item): string => ('role' in item ? String(item.role) : String(item.type))
