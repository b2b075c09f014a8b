import * as z from 'zod/mini'
import { MessagesBody, type Part, type Turn, turnsIn } from './anthropic-body.ts'

/**
 * What Anthropic's Messages endpoint refuses in the shape of a request. Written from recorded rejections, from reported
 * faults (their names stand beside the rules), and from the API's own error messages; never from what we send.
 */

/** Every defect; empty where the request is fine. */
export function messagesDefects(body: unknown): string[] {
  const parsed = MessagesBody.safeParse(body)
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  const { data } = parsed
  const turns = turnsIn(data)
  return [
    ...partDefects(data, turns),
    ...callDefects(turns),
    ...serverCallDefects(turns),
    ...placeDefects(data, turns),
    ...optionDefects(data),
  ]
}

const when = (isSo: unknown, defect: string): string[] => (isSo ? [defect] : [])
const isBlank = ({ type, text }: Part): boolean => type === 'text' && String(text).trim() === ''
const inner = ({ content: parts }: Part): Part[] => (Array.isArray(parts) ? parts : [])

const Inline = z.looseObject({ type: z.string(), media_type: z.string() })

function partDefects(body: MessagesBody, turns: Turn[]): string[] {
  const parts = turns.flatMap((turn) => turn.parts)
  const system: Part[] = Array.isArray(body.system) ? body.system : []
  const all = [...system, ...parts, ...parts.flatMap(inner)]
  const marked = [...all, ...(body.tools ?? [])].filter((part) => 'cache_control' in part)
  const data = all.flatMap(({ type, source }) => {
    const inline = Inline.safeParse(source)
    return inline.success ? [{ ...inline.data, kind: type }] : []
  })
  return [
    // S01: "text content blocks must be non-empty"
    ...when(all.some(isBlank), 'a text without words'),
    ...when(
      turns.some((turn) => turn.parts.length === 0),
      'a message without content',
    ),
    ...when(
      data.some(
        ({ kind, media_type: type }) => kind === 'image' && !/^image\/(jpeg|png|gif|webp)$/.test(type),
      ),
      'an image of a kind that is not known',
    ),
    ...when(
      data.some(
        ({ kind, type, media_type: media }) =>
          kind === 'document' && type === 'base64' && media !== 'application/pdf',
      ),
      'a document that is no PDF',
    ),
    // "A maximum of 4 blocks with cache_control may be provided."
    ...when(marked.length > 4, 'too many cache hints'),
    ...when(
      marked.some(({ type }) => /thinking/.test(String(type))),
      'a cache hint on thinking',
    ),
    ...when(/\\ud[89a-f]/i.test(JSON.stringify(body)), 'half a surrogate pair'),
  ]
}

const idsOf = (parts: Part[], field: string, type: (type: string) => boolean): string[] =>
  parts.filter((part) => field in part && type(String(part.type))).map((part) => String(part[field]))

/** Our own calls and their results. */
function callDefects(turns: Turn[]): string[] {
  const defects: string[] = []
  const seen = new Set<unknown>()
  for (const [i, { role, parts }] of turns.entries()) {
    const results = idsOf(parts, 'tool_use_id', (type) => type === 'tool_result')
    const before = turns[i - 1]?.role === 'assistant' ? (turns[i - 1]?.parts ?? []) : []
    const calls = idsOf(before, 'id', (type) => type === 'tool_use')
    // S10: "unexpected tool_use_id", "tool_use ids were found without tool_result blocks immediately after"
    for (const id of results) if (!calls.includes(id)) defects.push(`a result without its call: ${id}`)
    for (const id of calls) if (!results.includes(id)) defects.push(`a call without its result: ${id}`)
    if (new Set(results).size < results.length) defects.push('two results of one call')
    // S12: results come first
    const first = parts.findIndex(({ type }) => type !== 'tool_result')
    if (first >= 0 && parts.slice(first).some(({ type }) => type === 'tool_result'))
      defects.push('a result after something else')
    if (role !== 'assistant') continue
    const own = idsOf(parts, 'id', (type) => type === 'tool_use')
    // "`tool_use` ids must be unique"
    for (const id of own) if (seen.has(id)) defects.push(`a call id twice: ${id}`)
    for (const id of own) seen.add(id)
    // S11: text after tool_use
    const call = parts.findIndex(({ type }) => type === 'tool_use')
    if (call >= 0 && parts.slice(call).some(({ type }) => type !== 'tool_use'))
      defects.push('something after a call')
    if (i === turns.length - 1 && own.length > 0) defects.push('a call that nothing answers')
  }
  return defects
}

/** S47: calls of the server's own tools and their results, once a later turn holds something else than results of ours. */
function serverCallDefects(turns: Turn[]): string[] {
  const answers = turns.flatMap(({ role, parts }) => (role === 'assistant' ? parts : []))
  const calls = idsOf(answers, 'id', (type) => type.endsWith('_tool_use'))
  const results = idsOf(answers, 'tool_use_id', () => true)
  const later = turns.slice(turns.findLastIndex(({ role }) => role === 'assistant') + 1)
  const isOver = later.some(({ parts }) => parts.some(({ type }) => type !== 'tool_result'))
  const last = turns.findLast(({ role }) => role === 'assistant')?.parts ?? []
  const waiting = isOver ? [] : idsOf(last, 'id', (type) => type.endsWith('_tool_use'))
  return [
    ...calls
      .filter((id) => !results.includes(id) && !waiting.includes(id))
      .map((id) => `a server's call without its result: ${id}`),
    ...results.filter((id) => !calls.includes(id)).map((id) => `a server's result without its call: ${id}`),
  ]
}

/** What a model's name tells. A name that is not here tells nothing. */
const ADAPTIVE_ONLY = /claude-(opus-4-[78]|(opus|sonnet|haiku|fable|mythos)-5)/
const BOTH_KINDS = /claude-(opus|sonnet)-4-6/
const MANUAL_ONLY = /claude-(3-7|(opus|sonnet)-4-([0-5]|20)|haiku-4)/
const SYSTEM_INSIDE = /claude-(opus-4-8|(opus|sonnet|haiku|fable|mythos)-5)/
const ALWAYS_THINKS = /claude-(fable|mythos)/

function placeDefects({ model = '', thinking }: MessagesBody, turns: readonly Turn[]): string[] {
  const last = turns.at(-1)
  const end = last?.role === 'assistant' ? last.parts.at(-1) : undefined
  const isContinued = end?.type === 'text'
  const thinks = thinking !== undefined && thinking.type !== 'disabled'
  return [
    // "first message must use the "user" role"
    ...when(turns[0]?.role !== 'user', 'the first message is not the user’s'),
    // S04
    ...when(
      isContinued && (thinks || ADAPTIVE_ONLY.test(model) || BOTH_KINDS.test(model)),
      'a beginning of an answer for a model that does not take one',
    ),
    // "final assistant content cannot end with trailing whitespace"
    ...when(isContinued && /\s$/.test(String(end?.text)), 'white space at the end'),
    // "The final block in an assistant message cannot be `thinking`."
    ...when(
      turns.some(({ role, parts }) => role === 'assistant' && /thinking/.test(String(parts.at(-1)?.type))),
      'thinking at the end of an answer',
    ),
    // "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    ...when(thinking?.type === 'enabled' && isUnproven(turns), 'calls without the thinking before them'),
    // S46
    ...turns.flatMap(({ role }, i) => {
      if (role !== 'system') return []
      const [before, after] = [turns[i - 1], turns[i + 1]]
      return [
        ...when(!SYSTEM_INSIDE.test(model), 'a system message for a model that does not take one'),
        ...when(
          before?.role !== 'user' || (after && after.role !== 'assistant'),
          'a system message that is not between a user and an answer',
        ),
      ]
    }),
  ]
}

/** Whether the calls that are being answered began without thinking. */
function isUnproven(turns: readonly Turn[]): boolean {
  const isOfUser = ({ role, parts }: Turn) =>
    role === 'user' && parts.some(({ type }) => type !== 'tool_result')
  const asked = turns.findLastIndex(isOfUser)
  const first = turns.slice(asked + 1).find(({ role }) => role === 'assistant')?.parts ?? []
  return first.some(({ type }) => type === 'tool_use') && !/thinking/.test(String(first[0]?.type))
}

/** S45, and what the newest models no longer take. */
function optionDefects(body: MessagesBody): string[] {
  const { model = '', thinking, tools, tool_choice: choice, max_tokens: most, output_config: output } = body
  const thinks = thinking !== undefined && thinking.type !== 'disabled'
  const samples = body.temperature !== undefined || body.top_p !== undefined || body.top_k !== undefined
  const isForced = choice?.type === 'any' || choice?.type === 'tool'
  return [
    ...when(choice && !tools?.length, 'a choice without tools'),
    ...when(
      choice?.type === 'tool' && !tools?.some(({ name }) => name === choice.name),
      'the chosen tool does not exist',
    ),
    ...when(body.temperature !== undefined && body.top_p !== undefined, 'temperature and top_p'),
    ...when(samples && (thinks || ADAPTIVE_ONLY.test(model)), 'sampling that is not taken'),
    ...when(thinking?.type === 'enabled' && thinking.budget_tokens >= most, 'no room beside the thinking'),
    ...when(thinks && isForced, 'thinking with a forced call'),
    ...when(thinking?.type === 'enabled' && ADAPTIVE_ONLY.test(model), 'a budget of thinking'),
    ...when(thinking?.type === 'adaptive' && MANUAL_ONLY.test(model), 'thinking without a budget'),
    ...when(thinking?.type === 'disabled' && ALWAYS_THINKS.test(model), 'no thinking'),
    ...when(output?.effort && MANUAL_ONLY.test(model), 'effort for a model that knows none'),
    // "This model does not support effort level 'xhigh'."
    ...when(output?.effort === 'xhigh' && BOTH_KINDS.test(model), 'more effort than the model knows'),
  ]
}
