import * as z from 'zod/mini'

/**
 * What Ollama refuses in the shape of a request, as its own types have it: "json: cannot unmarshal array into Go struct field
 * ChatRequest.messages.content of type string", "invalid role", "illegal base64 data". Written from its API's reference and
 * from recorded requests; never from what we send.
 */
const Call = z.looseObject({
  id: z.optional(z.string()),
  function: z.looseObject({
    name: z.string().check(z.minLength(1)),
    arguments: z.record(z.string(), z.unknown()),
  }),
})
export const OllamaMessage = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  thinking: z.optional(z.string()),
  images: z.optional(z.array(z.string().check(z.regex(/^[A-Za-z0-9+/]+={0,2}$/)))),
  tool_calls: z.optional(z.array(Call)),
  tool_name: z.optional(z.string()),
  tool_call_id: z.optional(z.string()),
})
export type OllamaMessage = z.infer<typeof OllamaMessage>

export const OllamaBody = z.looseObject({
  model: z.string().check(z.minLength(1)),
  messages: z.array(OllamaMessage),
  stream: z.optional(z.boolean()),
  tools: z.optional(
    z.array(
      z.looseObject({
        type: z.literal('function'),
        function: z.looseObject({ name: z.string(), parameters: z.looseObject({ type: z.string() }) }),
      }),
    ),
  ),
  think: z.optional(z.union([z.boolean(), z.enum(['low', 'medium', 'high', 'max'])])),
  format: z.optional(z.union([z.literal(''), z.literal('json'), z.record(z.string(), z.unknown())])),
  options: z.optional(
    z.looseObject({
      num_predict: z.optional(z.number()),
      temperature: z.optional(z.number()),
      top_p: z.optional(z.number()),
      stop: z.optional(z.array(z.string())),
    }),
  ),
})
export type OllamaBody = z.infer<typeof OllamaBody>

/** What goes over the wire: undefined fields are gone. */
export const sentOllama = (body: unknown): OllamaBody => OllamaBody.parse(JSON.parse(JSON.stringify(body)))

/** Every defect; empty where the request is fine. */
export function ollamaDefects(body: unknown): string[] {
  const parsed = OllamaBody.safeParse(body)
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  // It would only load the model.
  return parsed.data.messages.length === 0 ? ['nothing is said'] : []
}

/** What it takes, and what its models' templates make nonsense of, so that we never send it. */
export function strictOllamaDefects(body: unknown): string[] {
  const { messages } = OllamaBody.parse(body)
  const defects = [...ollamaDefects(body), ...pairingDefects(messages)]
  const json = JSON.stringify(body)
  if (/\\ud[89a-f]/i.test(json) || /\p{Surrogate}/u.test(json)) defects.push('half a surrogate pair')
  if (!messages.some(({ role }) => role === 'user')) defects.push('no user message')
  for (const [i, { role, content, images = [], tool_calls: calls = [] }] of messages.entries()) {
    if (content.trim() === '' && images.length + calls.length === 0)
      defects.push(`nothing in a message of ${role}`)
    if (role === 'assistant' && messages[i - 1]?.role === 'assistant') defects.push('two answers in a row')
  }
  return defects
}

/** Every call is answered right after it, once, in its order, by its name; and nothing else is answered. */
function pairingDefects(messages: readonly OllamaMessage[]): string[] {
  const defects: string[] = []
  let open: string[] = []
  const ids = messages.flatMap(({ tool_calls: calls = [] }) => calls.flatMap(({ id }) => id ?? []))
  if (new Set(ids).size < ids.length) defects.push('an id twice')
  for (const { role, tool_calls: calls = [], tool_call_id: id = '', tool_name: name = '' } of messages) {
    if (role === 'tool') {
      if (open.shift() !== `${id} ${name}`) defects.push(`result without its call: ${id}`)
      continue
    }
    if (open.length > 0) defects.push(`calls without results: ${open}`)
    open = calls.map((call) => `${call.id} ${call.function.name}`)
  }
  if (open.length > 0) defects.push(`calls without results: ${open}`)
  return defects
}
