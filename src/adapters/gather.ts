import type { ErrorData } from '../lib/error-data.ts'
import type { AssistantBlock, StopReason } from '../message/schema.ts'
import type { AssistantDraft, ModelEvent } from './contract.ts'

/** The message of an answer that nobody else put together, as far as its events told it. */
export interface Gathered {
  readonly blocks: AssistantBlock[]
  readonly head: Omit<AssistantDraft, 'role' | 'content' | 'stopReason'>
}

export const gathering = (): Gathered => ({ blocks: [], head: {} })

/** Takes in one event. */
export function gather({ blocks, head }: Gathered, event: ModelEvent): void {
  switch (event.type) {
    case 'start': {
      const { type: _, ...start } = event
      Object.assign(head, start)
      break
    }
    case 'text':
    case 'thinking': {
      const block = blocks[event.index]
      if (block?.type === event.type) block.text += event.delta
      else blocks[event.index] = { type: event.type, text: event.delta }
      break
    }
    case 'toolCall':
      gatherCall(blocks, event)
      break
    case 'source':
      blocks[event.index] = event.source
      break
    case 'block':
      blocks[event.index] = event.block
      break
    case 'usage':
      head.usage = event.usage
      break
    default:
  }
}

function gatherCall(blocks: AssistantBlock[], event: Extract<ModelEvent, { type: 'toolCall' }>): void {
  if (event.phase === 'start') {
    const { phase: _, index, ...call } = event
    blocks[index] = { ...call, rawArguments: '' }
  } else if (event.phase === 'end') blocks[event.index] = event.call
  else {
    const call = blocks[event.index]
    if (call?.type === 'toolCall') call.rawArguments = (call.rawArguments ?? '') + event.delta
  }
}

/** What was gathered as a message. Calls that had not ended have no arguments. */
export const gathered = ({ blocks, head }: Gathered, stopReason: StopReason): AssistantDraft => ({
  role: 'assistant',
  // Flattened, so that a place that was skipped leaves no hole.
  content: blocks.flat(),
  ...head,
  stopReason,
})

/** The failure as the last event of an answer. */
export const failedWith = (so: Gathered, error: ErrorData): Extract<ModelEvent, { type: 'error' }> => {
  const reason = error.code === 'aborted' ? 'aborted' : 'error'
  return { type: 'error', reason, error, message: gathered(so, reason) }
}
