import * as z from 'zod/mini'

/** "Please make sure your image has of one of the following formats: ['png', 'jpeg', 'gif', 'webp']." */
const ImageUrl = z.string().check(z.regex(/^(https?:|data:image\/(png|jpeg|gif|webp);base64,)/))
/** A part of a message's content, as Chat Completions takes it. */
const Part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: ImageUrl }) }),
  z.looseObject({ type: z.enum(['file', 'file_url', 'document_url', 'input_audio']) }),
])
const Content = z.optional(z.nullable(z.union([z.string(), z.array(Part)])))
const ToolCall = z.looseObject({
  id: z.string().check(z.minLength(1)),
  type: z.literal('function'),
  // "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
  function: z.looseObject({ name: z.string().check(z.regex(/^[\w-]{1,64}$/)), arguments: z.string() }),
})
export const ChatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content: Content }),
  z.looseObject({ role: z.literal('user'), content: Content, name: z.optional(z.string()) }),
  z.looseObject({
    role: z.literal('assistant'),
    content: Content,
    tool_calls: z.optional(z.nullable(z.array(ToolCall))),
    reasoning_content: z.optional(z.nullable(z.string())),
    reasoning_details: z.optional(z.array(z.looseObject({ type: z.string() }))),
  }),
  z.looseObject({ role: z.literal('tool'), content: Content, tool_call_id: z.string() }),
])
export type ChatMessage = z.infer<typeof ChatMessage>

export const ChatBody = z.looseObject({
  model: z.string(),
  messages: z.array(ChatMessage),
  tools: z.optional(z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) }))),
  tool_choice: z.optional(
    z.union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }) })]),
  ),
  max_tokens: z.optional(z.number()),
  max_completion_tokens: z.optional(z.number()),
})
export type ChatBody = z.infer<typeof ChatBody>

/** What goes over the wire: undefined fields are gone. */
export const sentBody = (body: unknown): ChatBody => ChatBody.parse(JSON.parse(JSON.stringify(body)))

export const textOfContent = ({ content }: ChatMessage): string =>
  typeof content === 'string'
    ? content
    : (content ?? [])
        .map((part) => (part.type === 'text' && typeof part.text === 'string' ? part.text : ''))
        .join('\n\n')

export const callsOf = (message: ChatMessage) =>
  message.role === 'assistant' ? (message.tool_calls ?? []) : []

/**
 * What OpenAI's endpoint, or a strict server of its kind, refuses in the shape of a request; empty where it is fine. Written
 * from recorded rejections and reported faults.
 */
export function chatDefects(body: unknown): string[] {
  const parsed = ChatBody.safeParse(body)
  if (!parsed.success) return [`shape: ${parsed.error.issues.map(({ path }) => path.join('.')).join(', ')}`]
  const {
    messages,
    tools = [],
    tool_choice: choice,
    max_tokens: most,
    max_completion_tokens: mostNew,
  } = parsed.data
  const defects = pairingDefects(messages)
  // "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
  if (most !== undefined && mostNew !== undefined) defects.push('two output limits')
  // "Required function … is not present in the provided tools."
  if (typeof choice === 'object' && !tools.some((tool) => tool.function.name === choice.function.name))
    defects.push('the chosen tool does not exist')
  // "Content blocks are expected to be either text or image_url type."
  for (const message of messages)
    if (Array.isArray(message.content) && message.content.some(({ type }) => type === 'input_audio'))
      defects.push('audio for a model that does not hear')
  return defects
}

/** Every call is answered right after it, exactly once, and nothing else is answered. */
function pairingDefects(messages: readonly ChatMessage[]): string[] {
  const defects: string[] = []
  let open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) defects.push(`result without its call: ${message.tool_call_id}`)
      continue
    }
    if (open.size > 0) defects.push(`calls without results: ${[...open]}`)
    open = new Set(callsOf(message).map(({ id }) => id))
    if (open.size < callsOf(message).length) defects.push('two calls of one id')
  }
  if (open.size > 0) defects.push(`calls without results: ${[...open]}`)
  return defects
}

/** What some servers refuse beyond that, so that we never send it. */
export function strictDefects(body: unknown): string[] {
  const { messages } = ChatBody.parse(body)
  const defects = chatDefects(body)
  const ids = messages.flatMap((message) => callsOf(message).map(({ id }) => id))
  if (new Set(ids).size < ids.length) defects.push('an id twice in one request')
  if (!messages.some(({ role }) => role === 'user')) defects.push('no user message')
  if (/\p{Surrogate}/u.test(JSON.stringify(messages)) || /\\ud[89a-f]/i.test(JSON.stringify(messages)))
    defects.push('half a surrogate pair')
  for (const [i, message] of messages.entries()) {
    const empty = Array.isArray(message.content)
      ? message.content.length === 0
      : textOfContent(message).trim() === ''
    if (empty && callsOf(message).length === 0) defects.push(`nothing in a message of ${message.role}`)
    if (message.role === 'assistant' && messages[i - 1]?.role === 'assistant')
      defects.push('two answers in a row')
    for (const call of callsOf(message)) {
      if (!z.record(z.string(), z.unknown()).safeParse(JSON.parse(call.function.arguments)).success)
        defects.push('arguments that are no object')
    }
    if (message.role === 'tool' && typeof message.content !== 'string')
      defects.push('a result that is not text')
  }
  return defects
}

/** What single servers refuse beyond that (faults by their names), by the provider's usual name. */
const SERVER_RULES: Readonly<Record<string, (message: ChatMessage) => string | false>> = {
  // S09: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
  mistral: (message) =>
    [
      ...callsOf(message).map(({ id }) => id),
      ...(message.role === 'tool' ? [message.tool_call_id] : []),
    ].some((id) => !/^[a-zA-Z0-9]{9}$/.test(id)) && 'an id that is not nine letters',
  // S30: "The reasoning_content in the thinking mode must be passed back": of every answer
  deepseek: (message) =>
    message.role === 'assistant' &&
    typeof message.reasoning_content !== 'string' &&
    'an answer without its thinking',
  // S31: "reasoning_content is missing in assistant tool call message"
  moonshot: (message) =>
    message.role === 'assistant' &&
    callsOf(message).length > 0 &&
    !message.reasoning_content &&
    'calls without their thinking',
}

/** Fields of an answer that only some servers know. S32: "property 'reasoning_content' is unsupported" */
const THINKERS: Readonly<Record<string, RegExp>> = {
  reasoning_content: /^(deepseek|moonshot|zai)$/,
  reasoning_details: /^openrouter$/,
}

/** Who may speak after whom, where a server looks at that. */
const ORDERS: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  mistral: [
    // "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    [/a$/, 'an answer at the end'],
    [/as/, 'instructions right after an answer'],
  ],
  // "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)."
  perplexity: [[/a$|uu|aa|.s(?<!^s+)/, 'roles that do not alternate']],
}

/** What one server refuses, and all that we never send to any. */
export function serverDefects(body: unknown, provider: string): string[] {
  const { messages } = ChatBody.parse(body)
  const roles = messages.map(({ role, ...more }) => ('tool_calls' in more ? 'c' : role[0])).join('')
  return [
    ...strictDefects(body),
    ...(ORDERS[provider] ?? []).flatMap(([order, defect]) => (order.test(roles) ? [defect] : [])),
    ...messages.flatMap((message) => SERVER_RULES[provider]?.(message) || []),
    ...messages.flatMap((message) =>
      Object.keys(THINKERS).filter((field) => field in message && !THINKERS[field]?.test(provider)),
    ),
  ]
}
