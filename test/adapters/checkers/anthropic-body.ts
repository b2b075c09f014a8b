import * as z from 'zod/mini'

const Id = z.string().check(z.regex(/^[a-zA-Z0-9_-]+$/))
const Name = z.string().check(z.regex(/^[a-zA-Z0-9_-]{1,200}$/))
const Input = z.record(z.string(), z.unknown())
const Text = z.looseObject({ type: z.literal('text'), text: z.string() })
const Source = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  z.looseObject({ type: z.literal('url'), url: z.string().check(z.regex(/^https?:/)) }),
  z.looseObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
  z.looseObject({ type: z.literal('file'), file_id: z.string() }),
])
const Media = z.looseObject({ type: z.enum(['image', 'document']), source: Source })
const ResultPart = z.union([Text, Media, z.looseObject({ type: z.literal('tool_reference') })])
const Result = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: Id,
  content: z.optional(z.union([z.string(), z.array(ResultPart)])),
  is_error: z.optional(z.boolean()),
})
const UserPart = z.union([Text, Media, Result, z.looseObject({ type: z.literal('container_upload') })])
const AnswerPart = z.union([
  Text,
  z.looseObject({ type: z.literal('tool_use'), id: Id, name: Name, input: Input }),
  z.looseObject({
    type: z.enum(['server_tool_use', 'mcp_tool_use']),
    id: Id,
    name: z.string(),
    input: Input,
  }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  // What servers answer, and what only the API itself writes: we cannot tell what is right.
  z.looseObject({ type: z.string().check(z.regex(/_result$|^(compaction|fallback)$/)) }),
])
const content = <T extends z.ZodMiniType>(part: T) => z.union([z.string(), z.array(part)])
const Message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('user'), content: content(UserPart) }),
  z.looseObject({ role: z.literal('assistant'), content: content(AnswerPart) }),
  z.looseObject({ role: z.literal('system'), content: content(Text) }),
])

const Tool = z.union([
  // A tool of ours; one of theirs has a type, and fields of its own.
  z.looseObject({ name: Name, input_schema: z.looseObject({ type: z.literal('object') }) }),
  z.looseObject({ name: Name, type: z.string() }),
])
export const MessagesBody = z.looseObject({
  model: z.optional(z.string()),
  max_tokens: z.int().check(z.minimum(1)),
  messages: z.array(Message).check(z.minLength(1)),
  system: z.optional(content(Text)),
  tools: z.optional(z.array(Tool)),
  tool_choice: z.optional(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.enum(['auto', 'any', 'none']) }),
      z.looseObject({ type: z.literal('tool'), name: z.string() }),
    ]),
  ),
  temperature: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
  top_p: z.optional(z.number()),
  top_k: z.optional(z.number()),
  stop_sequences: z.optional(z.array(z.string().check(z.regex(/\S/)))),
  thinking: z.optional(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('enabled'), budget_tokens: z.int().check(z.minimum(1024)) }),
      z.looseObject({ type: z.enum(['adaptive', 'disabled']) }),
    ]),
  ),
  output_config: z.optional(
    z.looseObject({
      effort: z.optional(z.enum(['low', 'medium', 'high', 'xhigh', 'max'])),
      format: z.optional(z.looseObject({ type: z.literal('json_schema'), schema: z.looseObject({}) })),
    }),
  ),
})
export type MessagesBody = z.infer<typeof MessagesBody>

/** A block, whatever its kind. */
export type Part = Readonly<Record<string, unknown>>
export interface Turn {
  role: 'user' | 'assistant' | 'system'
  parts: Part[]
}

/** The messages as the API takes them: texts as blocks, and neighbours of one role as one. */
export function turnsIn({ messages }: MessagesBody): Turn[] {
  const turns: Turn[] = []
  for (const { role, content: given } of messages) {
    const parts: Part[] = typeof given === 'string' ? [{ type: 'text', text: given }] : given
    const last = turns.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else turns.push({ role, parts: [...parts] })
  }
  return turns
}

/** What goes over the wire: undefined fields are gone. */
export const sentMessages = (body: unknown): MessagesBody =>
  MessagesBody.parse(JSON.parse(JSON.stringify(body)))
