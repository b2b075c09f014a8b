import type { AssistantBlock } from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { ModelEvent } from './contract.ts'
import { parseJson } from './json.ts'

/** What makes JSON of a text that is nearly JSON, such as `jsonrepair`. May throw. */
export type Repair = (text: string) => string

/**
 * A model's option `repair`: calls' arguments that are no JSON are repaired, and say so. Only in answers that came to their end:
 * what was cut off may be missing what matters, and a repair would hide that. What it makes of a text counts if it is an object;
 * else the call stays as it was. Whoever plugs in a repair lets a tool run on what was guessed.
 *
 * @example
 * const model = openai('gpt-5', { repair: repairCalls(jsonrepair) })
 */
export const repairCalls =
  (repair: Repair) =>
  (events: AsyncIterable<ModelEvent>): AsyncIterable<ModelEvent> =>
    withRepairs(events, repair)

async function* withRepairs(
  events: AsyncIterable<ModelEvent>,
  repair: Repair,
): AsyncGenerator<ModelEvent, void, void> {
  /** From the first broken call on: how the answer ends is told last. */
  let held: ModelEvent[] = []
  for await (const event of events) {
    if (event.type === 'done' && event.reason !== 'length' && held.length > 0) {
      const content = event.message.content.map((block) => repaired(block, repair))
      for (const earlier of held) yield withCall(earlier, content)
      yield { ...event, message: { ...event.message, content } }
      return
    }
    const isLast = event.type === 'done' || event.type === 'error'
    if (!isLast && (held.length > 0 || isBroken(event))) held.push(event)
    else {
      yield* held
      held = []
      yield event
    }
  }
  yield* held
}

const isBroken = (event: ModelEvent): boolean =>
  event.type === 'toolCall' && event.phase === 'end' && needsRepair(event.call)

const needsRepair = (block: AssistantBlock): block is Extract<AssistantBlock, { type: 'toolCall' }> =>
  block.type === 'toolCall' && !block.server && block.arguments === undefined

/** The end of a call, as the final content has it. */
function withCall(event: ModelEvent, content: readonly AssistantBlock[]): ModelEvent {
  if (event.type !== 'toolCall' || event.phase !== 'end') return event
  const call = content[event.index]
  return call?.type === 'toolCall' ? { ...event, call } : event
}

function repaired(block: AssistantBlock, repair: Repair): AssistantBlock {
  if (!needsRepair(block)) return block
  const value = tryRepair(block.rawArguments ?? '', repair)
  return isRecord(value) ? { ...block, arguments: value, repaired: true } : block
}

/** What a repair makes of a text; undefined where it gives up: then the model is told that its text was no JSON. */
function tryRepair(text: string, repair: Repair): unknown {
  try {
    return parseJson(repair(text))?.value
  } catch {
    return undefined
  }
}
