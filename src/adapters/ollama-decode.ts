import { isRecord } from '../protocol/lenient.ts'
import type { Dialect } from './adapter.ts'
import {
  addBlock,
  addText,
  addThinking,
  type Draft,
  type Ending,
  openCall,
  startDraft,
  writeCall,
} from './draft.ts'
import { count, type JsonRecord, list, record, string } from './json.ts'
import { setUsage } from './usage.ts'

/** Ollama's `/api/chat` and `/api/generate`: a line of JSON for each piece, the last of which is `done`, or one for all. */
export const ollamaDialect: Dialect<undefined> = {
  begin: () => undefined,
  read: (draft, _, value) => readLine(draft, record(value)),
  end: () => undefined,
}

function readLine(draft: Draft, line: JsonRecord): Ending | undefined {
  const { done, message } = line
  const said = record(message)
  startDraft(draft, string(line.model), '')
  addThinking(draft, string(said.thinking) || string(line.thinking))
  addText(draft, string(said.content) || string(line.response))
  // What models paint is said as bytes alone: those of a JPEG begin alike.
  for (const data of [...list(said.images), line.image].map(string).filter(Boolean))
    addBlock(draft, { type: 'image', mimeType: data.startsWith('/9j/') ? 'image/jpeg' : 'image/png', data })
  for (const call of list(said.tool_calls)) readCall(draft, record(call))
  if (done !== true) return undefined
  const completion = count(line.eval_count)
  // A prompt that was in the cache has no count.
  const prompt = count(line.prompt_eval_count) ?? (completion === undefined ? undefined : 0)
  setUsage(draft, line, { prompt, completion })
  return line.done_reason === 'length' ? 'length' : 'stop'
}

/** Calls come whole, mostly without ids. */
function readCall(draft: Draft, { id, function: told }: JsonRecord): void {
  const { name, arguments: value } = record(told)
  const call = openCall(draft, string(id), string(name))
  writeCall(draft, call, isRecord(value) ? JSON.stringify(value) : string(value))
  draft.lastCall = undefined
}
