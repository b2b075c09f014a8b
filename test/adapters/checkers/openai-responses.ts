import { type Item, itemsIn, kindOf, ResponsesBody } from './openai-responses-body.ts'

/**
 * What the Responses endpoint refuses in the shape of a request. Written from recorded rejections, from reported faults
 * (their names stand beside the rules), and from the API's own error messages; never from what we send.
 */

/** Every defect; empty where the request is fine. `provider`: DeepSeek is stricter in one point, and laxer in another. */
export function responsesDefects(body: unknown, provider = 'openai'): string[] {
  const parsed = ResponsesBody.safeParse(body)
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  const { data } = parsed
  const items = itemsIn(data)
  return [
    ...callDefects(items, provider),
    ...(provider === 'deepseek' ? [] : reasoningDefects(data, items)),
    ...toolDefects(data),
    ...optionDefects(data),
  ]
}

const when = (isSo: unknown, defect: string): string[] => (isSo ? [defect] : [])

const isCall = (item: Item): boolean => /^(function_call|custom_tool_call)$/.test(kindOf(item))
const isOutput = (item: Item): boolean => /^(function_call|custom_tool_call)_output$/.test(kindOf(item))
const callIdOf = (item: Item): string => ('call_id' in item ? String(item.call_id) : '')

/** Every call is answered once, before anybody else speaks, and nothing else is answered. */
function callDefects(items: readonly Item[], provider: string): string[] {
  const defects: string[] = []
  const open = new Map<string, string>()
  let isBroken = false
  for (const item of items) {
    const id = callIdOf(item)
    if (isCall(item)) {
      // "No tool output found for tool call call-a.": DeepSeek, where an answer stands between two calls (S50)
      if (isBroken && provider === 'deepseek') defects.push(`something stands between two calls: ${id}`)
      if (open.has(id)) defects.push(`two open calls of one id: ${id}`)
      open.set(id, kindOf(item))
      continue
    }
    isBroken = open.size > 0
    if (isOutput(item)) {
      // "No tool call found for function call output with call_id …"
      if (`${open.get(id)}_output` !== kindOf(item)) defects.push(`an output without its call: ${id}`)
      open.delete(id)
      isBroken = false
    } else if (['user', 'system', 'developer'].includes(kindOf(item)) && open.size > 0) {
      // "No tool output found for function call call_…"
      defects.push(`calls without output: ${[...open.keys()]}`)
      open.clear()
    }
  }
  return [...defects, ...when(open.size > 0, `calls without output: ${[...open.keys()]}`)]
}

const idOf = (item: Item | undefined): string | undefined =>
  item && 'id' in item && typeof item.id === 'string' ? item.id : undefined

/** Whether the model wrote it. */
const isWritten = (item: Item | undefined): boolean =>
  item !== undefined && !isOutput(item) && !['user', 'system', 'developer'].includes(kindOf(item))

function reasoningDefects({ store }: ResponsesBody, items: readonly Item[]): string[] {
  const ids = items.flatMap((item) => idOf(item) ?? [])
  const defects = [
    ...when(new Set(ids).size < ids.length, 'an item twice'),
    // S18: "Items are not persisted when `store` is set to false."
    ...when(
      store === false && items.some((item) => kindOf(item) === 'item_reference'),
      'a reference to nothing',
    ),
  ]
  for (const [i, item] of items.entries()) {
    if (kindOf(item) !== 'reasoning' || !('encrypted_content' in item || 'summary' in item)) continue
    const proof = 'encrypted_content' in item ? item.encrypted_content : undefined
    const text = 'content' in item && Array.isArray(item.content) && item.content.length > 0
    const next = items[i + 1]
    // S18: "Item with id 'rs_…' not found."
    if (store === false && !proof && !text) defects.push('reasoning without proof that is not stored')
    // "Item 'rs_…' of type 'reasoning' was provided without its required following item."
    if (!isWritten(next)) defects.push('reasoning that nothing follows')
    else if (proof && idOf(item) && kindOf(item) !== kindOf(next ?? item) && !idOf(next))
      defects.push('reasoning without the item that followed it')
  }
  // S17: "Item 'msg_…' of type 'message' was provided without its required 'reasoning' item": what we cannot tell from
  // the outside is whether there was any. Where there is, it comes before.
  return defects
}

function toolDefects({ tools = [], tool_choice: choice }: ResponsesBody): string[] {
  const functions = tools.filter((tool) => tool.type === 'function')
  const names = functions.map((tool) => ('name' in tool ? tool.name : ''))
  const loose = functions.filter((tool) => {
    if (!('parameters' in tool) || tool.strict !== true) return false
    const { properties = {}, required = [] } = Object(tool.parameters)
    return !Object.keys(properties).every((name) => required.includes(name))
  })
  return [
    // S38: "'required' is required to be supplied and to be an array including every key in properties."
    ...when(loose.length > 0, 'a strict tool with a property that is not required'),
    ...when(
      typeof choice === 'object' && choice.type === 'function' && !names.includes(choice.name),
      'the chosen tool does not exist',
    ),
  ]
}

function optionDefects(body: ResponsesBody): string[] {
  const { model, reasoning, temperature, top_p: topP, background, store } = body
  return [
    // "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    ...when(
      /gpt-5.*chat|gpt-4|gpt-3/.test(model) && reasoning?.effort,
      'effort of a model that does not think',
    ),
    // S53: "Unsupported parameter: 'temperature' is not supported with this model."
    ...when(
      /(^|\/)(o\d|gpt-5(?![.\d]|.*chat))/.test(model) && (temperature ?? topP) !== undefined,
      'sampling of a model that thinks',
    ),
    // "Background mode requires store=true."
    ...when(background && store === false, 'an answer in the background that is not stored'),
    ...when(/\\ud[89a-f]/i.test(JSON.stringify(body)), 'half a surrogate pair'),
  ]
}
