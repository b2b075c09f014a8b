import { wellFormed } from '../lib/text.ts'
import type { ImageBlock, UserBlock } from '../message/schema.ts'
import type { CallIdRule } from './call-ids.ts'
import type { ModelContext } from './contract.ts'
import {
  argumentsText,
  asUserText,
  notShown,
  type ReplayQuestion,
  type ReplayResult,
  replay,
  shownAfter,
  textOfBlocks,
} from './replay.ts'

/** A message of the Prompt API, with pictures as we have them. */
export interface Prompt {
  role: 'system' | 'user' | 'assistant'
  content: readonly (PromptText | PromptImage)[]
}
export interface PromptText {
  type: 'text'
  value: string
}
export interface PromptImage {
  type: 'image'
  value: ImageBlock & { data: string }
}

const ANY_ID: CallIdRule = { own: /./, foreign: /./, prefix: 'call_' }

/**
 * What the browser's model gets to see, and what it is asked. It knows text and pictures: calls go as what came of them,
 * later instructions as what they are, in the words of the user.
 */
export function promptsOf(
  { system = '', messages }: ModelContext,
  provider: string,
): { seen: Prompt[]; asked: Prompt } {
  const prompts = replay(messages, { provider, callIds: ANY_ID }, '').flatMap((entry): Prompt[] => {
    if (entry.role === 'user') return [userOf(entry)]
    if (entry.role === 'system') return [userText(asUserText(entry.text))]
    const text = textOfBlocks(entry.content, '')
    const said: Prompt[] = text === '' ? [] : [{ role: 'assistant', content: [textPart(text)] }]
    return [...said, ...shownAfter(entry).map(userOf), ...entry.results.map(resultOf)]
  })
  const asked = prompts.at(-1)?.role === 'user' ? prompts.pop() : undefined
  if (system.trim() !== '') prompts.unshift({ role: 'system', content: [textPart(system)] })
  return { seen: prompts, asked: asked ?? userText('Continue.') }
}

const userOf = ({ role, content }: ReplayQuestion): Prompt => ({ role, content: content.map(partOf) })

const textPart = (text: string): PromptText => ({ type: 'text', value: wellFormed(text) })

const userText = (text: string): Prompt => ({ role: 'user', content: [textPart(text)] })

function partOf(block: UserBlock): PromptText | PromptImage {
  if (block.type === 'image' && block.data !== undefined)
    return { type: 'image', value: { ...block, data: block.data } }
  return textPart((block.type === 'text' ? block : notShown(block)).text)
}

const resultOf = ({ call, content }: ReplayResult): Prompt => ({
  role: 'user',
  content: [textPart(`Result of ${call.name}(${argumentsText(call)}):`), ...content.map(partOf)],
})

/** Prompts in which pictures are only named, for a model that sees none. */
export const withoutImages = ({ role, content }: Prompt): Prompt => ({
  role,
  content: content.map((part) => (part.type === 'text' ? part : textPart(notShown(part.value).text))),
})
