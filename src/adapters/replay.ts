import type {
  AssistantBlock,
  AssistantMessage,
  FileBlock,
  ImageBlock,
  Message,
  TextBlock,
  ToolBlock,
  ToolCallBlock,
  UserBlock,
} from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import { type CallIdRule, callIds } from './call-ids.ts'
import { mended } from './json.ts'

/** A call with what came of it: every call has a result, real or made up. */
export interface ReplayResult {
  /** With an id that the server takes. */
  call: ToolCallBlock
  /** The call's id in the history, as long as no result of that id was found. */
  open: string | undefined
  content: readonly ToolBlock[]
  isError: boolean
}

/** An answer as it may be sent again. */
export interface ReplayAnswer {
  role: 'assistant'
  content: AssistantBlock[]
  /** Whether the provider that is asked wrote it, to its end: then its thinking and proofs may go back. */
  own: boolean
  /** Of the calls in `content` that are ours to make, in their order. */
  results: ReplayResult[]
}

export interface ReplayQuestion {
  role: 'user'
  content: UserBlock[]
  name?: string | undefined
}

/** One message of a history that any provider takes; the dialect only has to spell it. */
export type ReplayEntry = { role: 'system'; text: string } | ReplayQuestion | ReplayAnswer

/** Who is asked, as far as it matters for what may go back. */
export interface ReplayTarget {
  provider: string
  callIds: CallIdRule
  trusts?(writer: string | undefined, model: string): boolean
}

/**
 * A canonical history made fit to be sent again: failed and aborted answers reduced to their text, calls and results
 * paired, empty pieces and other providers' thinking left out, neighbouring answers joined.
 */
export function replay(messages: readonly Message[], target: ReplayTarget, model: string): ReplayEntry[] {
  const entries: ReplayEntry[] = []
  const idOf = callIds(target.callIds)
  const results: Pick<ReplayResult, 'open'>[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      const { toolCallId, content, isError } = message
      // Of the newest open call of its id, since ids repeat over turns. One without a call is dropped.
      const result = results.find(({ open }) => open === toolCallId)
      if (result) Object.assign(result, { open: undefined, content: solid(content), isError })
    } else if (message.role === 'assistant') {
      const own = message.provider === target.provider && (target.trusts?.(message.model, model) ?? true)
      const answer = answerOf(message, own, idOf)
      // Those of calls that do not go back are nobody's, whoever has the same id.
      const others = message.content.flatMap((block) =>
        block.type === 'toolCall' ? [{ open: block.id }] : [],
      )
      results.unshift(...answer.results, ...others)
      addAnswer(entries, answer)
    } else if (message.role === 'user') {
      const content = solid(message.content)
      if (content.length > 0) entries.push({ role: 'user', content, name: message.name })
    } else {
      const text = textOfBlocks(solid(message.content), '\n\n')
      if (text !== '') entries.push({ role: 'system', text })
    }
  }
  return entries
}

function answerOf(
  { status, stopReason, content: blocks }: AssistantMessage,
  isOwn: boolean,
  idOf: (id: string, isOwn: boolean) => string,
): ReplayAnswer {
  const half = status !== 'completed' || stopReason === 'error' || stopReason === 'aborted'
  const own = isOwn && !half
  const results: ReplayResult[] = []
  const content = solid(blocks.filter((block) => mayGoBack(block, half, own)))
  for (const block of content) {
    if (!own && 'signature' in block) delete block.signature
    if (block.type !== 'toolCall' || block.server) continue
    results.push({ call: block, open: block.id, content: [excuse(block)], isError: true })
    block.id = idOf(block.id, own)
  }
  return { role: 'assistant', content, own, results }
}

/** Half of an answer is its text alone: half a call or half a thought is refused everywhere. */
function mayGoBack(block: AssistantBlock, half: boolean, own: boolean): boolean {
  const anybodys = block.type === 'image' || (block.type === 'toolCall' && !block.server)
  return block.type === 'text' || (!half && block.type !== 'source' && (own || anybodys))
}

const excuse = (call: ToolCallBlock): TextBlock => ({
  type: 'text',
  text: `Not executed: ${call.arguments === undefined ? 'the arguments are not valid JSON' : 'there is no result'}.`,
})

/** Two answers in a row are one: some chat templates refuse them, and nothing stands between them. */
function addAnswer(entries: ReplayEntry[], answer: ReplayAnswer): void {
  const { content, own, results } = answer
  const before = entries.at(-1)
  if (content.length === 0) return
  if (before?.role !== 'assistant' || before.results.length > 0) {
    entries.push(answer)
    return
  }
  const last = before.content.at(-1)
  if (last?.type === 'text' && content[0]?.type === 'text') last.text += '\n\n'
  before.content.push(...content)
  before.own &&= own
  before.results = results
}

/**
 * Copies of blocks, without blank texts, which many servers refuse: what stands between two texts goes with the first.
 * What an address holds in itself (`data:`) is data, and a kind of picture has the name that servers know it by.
 */
function solid<Block extends AssistantBlock | UserBlock | ToolBlock>(blocks: readonly Block[]): Block[] {
  const copies: Block[] = []
  for (const block of blocks) {
    const copy = { ...block }
    if (copy.type === 'image' || copy.type === 'file') {
      const [, kind, data] = (copy.data === undefined && WITHIN.exec(copy.url ?? '')) || []
      if (data !== undefined) Object.assign(copy, { mimeType: kind || copy.mimeType, data, url: undefined })
      if (copy.mimeType === 'image/jpg') copy.mimeType = 'image/jpeg'
    }
    const last = copies.at(-1)
    if (copy.type !== 'text' || copy.text.trim()) copies.push(copy)
    else if (last?.type === 'text') last.text += copy.text
  }
  return copies
}

const WITHIN = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)/s

/** Whether a picture is of a kind that Anthropic and OpenAI take: "make sure your image is of one of the following formats". */
export const isCommonImage = (mimeType: string): boolean => /^image\/(jpeg|png|gif|webp)$/.test(mimeType)

/** A call's name as the model is to have said it: "string does not match pattern '^[a-zA-Z0-9_-]+$'", of 64 at most. */
export const nameOf = ({ name }: ToolCallBlock, longest = 64): string =>
  name.replace(/[^\w-]/g, '_').slice(0, longest) || '_'

/** Later instructions, where only a user may say them. */
export const asUserText = (text: string): string => `<system>\n${text}\n</system>`

/** What stands in the place of a picture or a file that cannot be sent: the model is to know that there was something. */
export const notShown = ({ type, mimeType, name }: ImageBlock | FileBlock): TextBlock => ({
  type: 'text',
  text: `[${type} ${name ?? mimeType} not shown]`,
})

/** Pictures that have no place where they were, such as in an answer or in a result: a user shows them right after. */
export function shownAfter(...places: readonly { content: readonly AssistantBlock[] }[]): ReplayQuestion[] {
  const images = places.flatMap(({ content }) => content.filter((block) => block.type === 'image'))
  return images[0]
    ? [{ role: 'user', content: [{ type: 'text', text: 'Images from above:' }, ...images] }]
    : []
}

/** The texts of blocks of a kind, joined. */
export const textOfBlocks = (
  blocks: readonly (AssistantBlock | UserBlock)[],
  seam: string,
  type: 'text' | 'thinking' = 'text',
): string => blocks.flatMap((block) => (block.type === type ? block.text : [])).join(seam)

/** A call's arguments. What was not valid, or is no object, is in one: the model sees it, no server trips over it. */
export const argumentsOf = ({
  rawArguments: invalid = '',
  arguments: value = { invalid },
}: ToolCallBlock): Record<string, unknown> => mended(isRecord(value) ? value : { arguments: value })

/** The same as JSON text, in which half of a surrogate pair would hide behind its escape. */
export const argumentsText = (call: ToolCallBlock): string => JSON.stringify(argumentsOf(call))
