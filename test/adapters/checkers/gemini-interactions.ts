import {
  type Content,
  contentOf,
  InteractionBody,
  isCall,
  isModelOutput,
  isResult,
  isThought,
  isUserInput,
  type Step,
  stepsIn,
} from './gemini-interactions-body.ts'

/**
 * What the Interactions API refuses in the shape of a request. Written from its reference, from its recorded rejection, from
 * its own error messages, and from faults reported against other adapters of Gemini, which stands behind it (their names
 * stand beside the rules); never from what we send.
 */

const when = (isSo: unknown, defect: string): string[] => (isSo ? [defect] : [])

/** Every defect; empty where the request is fine. */
export function interactionDefects(body: unknown): string[] {
  const parsed = InteractionBody.safeParse(body)
  // "Unknown name", a value of another type, a step or a content that there is not.
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  const { data } = parsed
  const steps = stepsIn(data)
  return [
    ...orderDefects(steps),
    ...steps.flatMap((step) => stepDefects(step, data.model)),
    ...pairingDefects(steps),
    ...proofDefects(steps),
    ...optionDefects(data),
    ...modelDefects(data),
  ]
}

const orderDefects = (steps: readonly Step[]): string[] => {
  const [first, last] = [steps[0], steps.at(-1)]
  return [
    ...when(!first, 'nothing is said'),
    // S25: "function call turn comes immediately after a user turn or after a function response turn"
    ...when(first && !isUserInput(first) && !isResult(first), 'the model speaks first'),
    ...when(last && !isUserInput(last) && !isResult(last), 'the model speaks last'),
  ]
}

function stepDefects(step: Step, model: string): string[] {
  const content = contentOf(step)
  const shown = isResult(step) && typeof step.result !== 'string' ? step.result : []
  return [
    ...when((isUserInput(step) || isModelOutput(step)) && content.length === 0, 'a step that says nothing'),
    ...[...content, ...shown].flatMap(contentDefects),
    // "A thought without signature": googleapis/js-genai#1735
    ...when(isThought(step) && !step.signature, 'a thought without its proof'),
    ...when(
      shown.some(({ type }) => type !== 'text' && type !== 'image'),
      'a result that is neither text nor picture',
    ),
    // "Multimodal function responses are not supported for this model."
    ...when(/gemini-2/.test(model) && shown.some(({ type }) => type === 'image'), 'a picture in a result'),
  ]
}

function contentDefects(content: Content): string[] {
  if (content.type === 'text') return []
  const { data, uri, mime_type: mimeType } = content
  return [
    ...when(!data === !uri, 'media without data, or with both data and an address'),
    ...when(data && !mimeType, 'data of no known type'),
    ...when(uri && !/^(https?|gs):/.test(uri), 'an address that the server cannot reach'),
  ]
}

/** S26: after calls come their results, all of them, in their order and with nothing among them; nothing else is answered. */
function pairingDefects(steps: readonly Step[]): string[] {
  const defects: string[] = []
  let waiting: { id: string; name: string }[] = []
  for (const step of steps) {
    if (isCall(step)) waiting.push(step)
    else if (isResult(step)) {
      const call = waiting.shift()
      defects.push(
        ...when(call?.id !== step.call_id, `a result of ${step.call_id} for a call of ${call?.id}`),
        ...when(
          call && step.name !== undefined && step.name !== call.name,
          `the result of ${step.name} for ${call?.name}`,
        ),
      )
    } else if (isUserInput(step)) {
      defects.push(...waiting.map(({ id }) => `no result for ${id}`))
      waiting = []
    }
  }
  return [...defects, ...waiting.map(({ id }) => `no result for ${id}`)]
}

/** S23: "Function call is missing a thought_signature": here it stands in a thought, before the first call of a turn. */
function proofDefects(steps: readonly Step[]): string[] {
  let proven = false
  return steps.flatMap((step) => {
    if (isUserInput(step) || isResult(step)) proven = false
    else if (isThought(step)) proven = true
    else if (isCall(step)) {
      const before = proven || step.signature
      proven = true
      return when(!before, `no thought before the call of ${step.name}`)
    }
    return []
  })
}

function optionDefects({ generation_config: config = {}, tools = [], ...body }: InteractionBody): string[] {
  const {
    temperature = 0,
    max_output_tokens: most = 1,
    stop_sequences: stops = [],
    tool_choice: choice,
  } = config
  const functions = tools.flatMap(({ type, name }) => (type === 'function' ? [name] : []))
  const allowed = typeof choice === 'object' ? choice.allowed_tools : undefined
  return [
    // As `generateContent` has it: "the supported range is from 0 (inclusive) to 2.0001 (exclusive)"
    ...when(temperature < 0 || temperature > 2, 'temperature'),
    ...when(most < 1, 'max_output_tokens'),
    ...when(stops.length > 5 || stops.includes(''), 'stop_sequences'),
    ...when(functions.includes(undefined), 'a function without a name'),
    ...when(new Set(functions).size < functions.length, 'two functions of one name'),
    ...when(
      allowed?.tools.some((name) => !functions.includes(name)),
      'a tool is allowed that there is not',
    ),
    ...when(allowed && allowed.mode !== 'any' && allowed.mode !== 'validated', 'names, but no call demanded'),
    // What is written in the background has to be stored.
    ...when(body.background && body.store === false, 'in the background, and not stored'),
  ]
}

/** What a model cannot do. The levels are those of https://ai.google.dev/gemini-api/docs/thinking */
function modelDefects({
  model,
  background,
  generation_config: { thinking_level: level } = {},
}: InteractionBody) {
  return [
    // "Model 'gemini-2.5-flash' does not support background interactions."
    ...when(background && /gemini-2/.test(model), 'the model does not work in the background'),
    ...when(level === 'minimal' && /gemini-2|gemini-3.*-pro/.test(model), 'the model knows no minimal level'),
    ...when(level === 'medium' && /gemini-3-pro/.test(model), 'the model knows no medium level'),
  ]
}

/** What we never send beyond that, however lenient the server may be. */
export function strictInteractionDefects(body: unknown): string[] {
  const defects = interactionDefects(body)
  if (defects.length > 0) return defects
  const steps = stepsIn(InteractionBody.parse(body))
  const json = JSON.stringify(body)
  const ids = steps.filter(isCall).map(({ id }) => id)
  const isBlank = (content: Content) => content.type === 'text' && content.text.trim() === ''
  return [
    // S52
    ...when(new Set(ids).size < ids.length, 'an id twice'),
    ...when(/\\ud[89a-f]/i.test(json) || /\p{Surrogate}/u.test(json), 'half a surrogate pair'),
    ...when(steps.flatMap(contentOf).some(isBlank), 'a text without words'),
    ...steps.flatMap((step, i) =>
      when(
        (isUserInput(step) || isModelOutput(step)) && steps[i - 1]?.type === step.type,
        `two of ${step.type}`,
      ),
    ),
  ]
}
