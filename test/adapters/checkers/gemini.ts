import { type Content, camelled, GeminiBody, type Part } from './gemini-body.ts'

/**
 * What Gemini refuses in the shape of a request. Written from recorded rejections, from reported faults (their names stand
 * beside the rules), and from the API's own error messages; never from what we send.
 */

const when = (isSo: unknown, defect: string): string[] => (isSo ? [defect] : [])

/** Every defect; empty where the request is fine. Some rules are only for models from the third generation on. */
export function geminiDefects(body: unknown, model: string): string[] {
  const parsed = GeminiBody.safeParse(camelled(body))
  // S27: a result that is a list or a bare text; anything that is no message at all.
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  const { data } = parsed
  const turns = turnsIn(data.contents)
  return [
    ...roleDefects(data.contents),
    ...data.contents.flatMap(({ parts }) => parts.flatMap(partDefects)),
    ...pairingDefects(turns),
    ...(/gemini-[3-9]/.test(model) ? proofDefects(turns) : []),
    ...optionDefects(data),
  ]
}

interface Turn {
  model: boolean
  parts: Part[]
}

/** Neighbours of one role speak in one turn. (S25: they had better be one; two of the model were accepted, once.) */
function turnsIn(contents: readonly Content[]): Turn[] {
  const turns: Turn[] = []
  for (const { role, parts } of contents) {
    const model = role === 'model'
    const last = turns.at(-1)
    if (last?.model === model) last.parts.push(...parts)
    else turns.push({ model, parts: [...parts] })
  }
  return turns
}

const roleDefects = (contents: readonly Content[]): string[] => [
  ...when(contents.length === 0, 'nothing is said'),
  // S46, "Please use a valid role: user, model."
  ...contents.flatMap(({ role = 'user' }) => when(!/^(user|model|function)$/.test(role), `the role ${role}`)),
  // S25: "function call turn comes immediately after a user turn or after a function response turn"
  ...when(contents[0]?.role === 'model', 'the model speaks first'),
  ...when(contents.at(-1)?.role === 'model', 'the model speaks last'),
  ...when(
    contents.some(({ parts }) => parts.length === 0),
    'a content without parts',
  ),
]

/** Fields of a part that are its content; it has exactly one of them. */
const KINDS =
  /^(text|inlineData|fileData|functionCall|functionResponse|executableCode|codeExecutionResult|toolCall|toolResponse)$/

function partDefects(part: Part): string[] {
  const kinds = Object.keys(part).filter((key) => KINDS.test(key))
  const { functionCall, fileData, inlineData } = part
  return [
    // "required oneof field 'data' must have one initialized field"; a proof alone is said with an empty text
    ...when(
      kinds.length !== 1 && part.thoughtSignature === undefined,
      `a part of ${kinds.join(' and ') || 'nothing'}`,
    ),
    // S23: the proof stands beside the call, not in it
    ...when(
      functionCall && ('thoughtSignature' in functionCall || 'signature' in functionCall),
      'a proof in a call',
    ),
    ...when(fileData?.fileUri === '' || inlineData?.data === '', 'media without data'),
  ]
}

/** S26: as many results as calls, all in the turn right after them and in their order; nothing else is answered. */
function pairingDefects(turns: readonly Turn[]): string[] {
  return turns.flatMap(({ model, parts }, i) => {
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
    if (model) {
      const waiting = calls.length > 0 && !turns[i + 1]?.parts.some((part) => part.functionResponse)
      return [
        ...when(waiting, 'calls without results'),
        ...when(results.length > 0, 'the model gives results'),
      ]
    }
    const asked = (turns[i - 1]?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
    if (results.length === 0) return when(calls.length > 0, 'a user makes calls')
    const firstOther = parts.findIndex((part) => !part.functionResponse)
    return [
      ...when(results.length !== asked.length, `${results.length} results for ${asked.length} calls`),
      ...when(firstOther >= 0 && firstOther < results.length, 'something stands among the results'),
      ...results.flatMap(({ id, name }, at) => [
        ...when(asked[at] && asked[at].name !== name, `a result of ${name} for a call of ${asked[at]?.name}`),
        ...when(
          id !== undefined && asked[at]?.id !== undefined && asked[at]?.id !== id,
          `a result for ${id}`,
        ),
      ]),
    ]
  })
}

/** S23: "Function call is missing a thought_signature": of each turn since the user last spoke, the first call has one. */
function proofDefects(turns: readonly Turn[]): string[] {
  const spoke = turns.findLastIndex(
    ({ model, parts }) => !model && parts.some((part) => !part.functionResponse),
  )
  return turns.slice(spoke + 1).flatMap(({ parts }) => {
    const first = parts.find((part) => part.functionCall)
    return when(first && !first.thoughtSignature, `no proof for the call of ${first?.functionCall?.name}`)
  })
}

/** S29: what `parameters` has no name for. (`parametersJsonSchema` takes JSON Schema.) */
const UNKNOWN = /^(const|\$schema|additionalProperties|exclusiveMinimum|exclusiveMaximum)$/

function schemaDefects(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) => [
    ...when(UNKNOWN.test(key), `Unknown name "${key}"`),
    ...when(key === 'type' && Array.isArray(value), 'several types'),
    ...(key === 'properties' ? Object.values(Object(value)).flatMap(schemaDefects) : schemaDefects(value)),
  ])
}

function optionDefects({ generationConfig = {}, tools = [], toolConfig }: GeminiBody): string[] {
  const { temperature = 0, maxOutputTokens = 1, stopSequences = [] } = generationConfig
  const declarations = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
  const names = new Set(declarations.map(({ name }) => name))
  const { allowedFunctionNames: allowed = [], mode } = toolConfig?.functionCallingConfig ?? {}
  return [
    // "it has a temperature value of 1000 but the supported range is from 0 (inclusive) to 2.0001 (exclusive)"
    ...when(temperature < 0 || temperature > 2, 'temperature'),
    ...when(maxOutputTokens < 1, 'maxOutputTokens'),
    ...when(stopSequences.length > 5 || stopSequences.includes(''), 'stopSequences'),
    ...declarations.flatMap(({ parameters }) => schemaDefects(parameters)),
    ...when(names.size < declarations.length, 'two tools of one name'),
    ...when(
      allowed.some((name) => !names.has(name)),
      'a tool is allowed that there is not',
    ),
    ...when(
      allowed.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED',
      'names are allowed, but no call demanded',
    ),
    ...when(
      tools.some(({ functionDeclarations }) => functionDeclarations?.length === 0),
      'no tools',
    ),
  ]
}

/** What we never send beyond that, however lenient newer models are. */
export function strictGeminiDefects(body: unknown, model: string): string[] {
  const { contents } = GeminiBody.parse(camelled(body))
  const json = JSON.stringify(body)
  const ids = contents.flatMap(({ parts }) => parts.flatMap(({ functionCall }) => functionCall?.id ?? []))
  const isBlank = ({ text, thoughtSignature }: Part) => text?.trim() === '' && thoughtSignature === undefined
  return [
    ...geminiDefects(body, model),
    // S52
    ...when(new Set(ids).size < ids.length, 'an id twice'),
    ...when(/\\ud[89a-f]/i.test(json) || /\p{Surrogate}/u.test(json), 'half a surrogate pair'),
    ...contents.flatMap(({ role, parts }, i) => [
      ...when(parts.some(isBlank), 'a text without words'),
      ...when(role === 'model' && contents[i - 1]?.role === 'model', 'two turns of the model'),
      // S26: results stand alone
      ...when(
        parts.some((part) => part.functionResponse) && !parts.every((part) => part.functionResponse),
        'results together with something else',
      ),
      ...when(
        role === 'user' &&
          i > 0 &&
          contents[i - 1]?.role === 'user' &&
          !contents[i - 1]?.parts[0]?.functionResponse,
        'two turns of the user',
      ),
    ]),
  ]
}
