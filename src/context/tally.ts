import type { FileBlock, ImageBlock, Message } from '../message/schema.ts'
import type { Family } from './families.ts'
import type { TextCounter } from './text-counter.ts'

/**
 * What a text, a message or a request is made of, in tokens as the tables say: words (ASCII letters and white space), signs
 * (ASCII digits and punctuation), other alphabets, ideographs (East Asian text, symbols, emoji); then how many messages, and
 * what is known without estimating.
 */
export type Counts = readonly [
  words: number,
  signs: number,
  alphabets: number,
  ideographs: number,
  messages: number,
  exact: number,
]

/** What goes to a model in one call. */
export interface CountableRequest {
  messages: Iterable<Message>
  system?: string | undefined
  tools?: readonly unknown[] | undefined
}

export interface TallyOptions {
  /** The model's name, with any prefix. One that is not known is counted as o200k, with wide bounds. */
  model?: string
  /** Tokens of a picture or a file, such as `mediaTokens`. @default 1,000 for each */
  media?: (block: ImageBlock | FileBlock, family: Family) => number
  /** Tokens a request costs beside its messages. @default 3 */
  requestOverhead?: number
  /** Tokens that having any tools costs, beside their text. @default 8 */
  toolOverhead?: number
  /** Tokens for each token of the tools' JSON. @default 1 */
  toolFactor?: number
}

const MEDIA = 1_000

export interface Tally {
  text(text: string): Counts
  message(message: Message): Counts
  request(request: CountableRequest): Counts
}

type Sums = [number, number, number, number, number, number]

const json = (value: unknown): string => JSON.stringify(value) ?? ''

/** What a model counted when it wrote an answer, less its reasoning; undefined where that is not known. */
function saidTokens(message: Message, model: string | undefined): number | undefined {
  if (message.role !== 'assistant' || !message.usage || model === undefined || message.model !== model) return
  const { output, reasoning } = message.usage
  if (reasoning === undefined && message.content.some(({ type }) => type === 'thinking')) return
  return output - (reasoning ?? 0)
}

export function createTally(counter: TextCounter, family: Family, options: TallyOptions): Tally {
  const { model, media, requestOverhead = 3, toolOverhead = 8, toolFactor = 1 } = options
  const addText = (sums: Sums, text: string, factor = 1): Sums => {
    const [words, signs, alphabets, ideographs] = counter.parts(text)
    sums[0] += words * factor
    sums[1] += signs * factor
    sums[2] += alphabets * factor
    sums[3] += ideographs * factor
    return sums
  }
  const addMessage = (sums: Sums, message: Message): Sums => {
    sums[4]++
    const said = saidTokens(message, model)
    sums[5] += said ?? 0
    for (const block of said === undefined ? message.content : []) {
      if (block.type === 'image' || block.type === 'file') sums[5] += media?.(block, family) ?? MEDIA
      else if (block.type === 'toolCall')
        addText(sums, block.name + (block.rawArguments ?? json(block.arguments)))
      else if (block.type === 'other') addText(sums, json(block.raw))
      else if (block.type !== 'source') addText(sums, block.text)
    }
    return sums
  }
  return {
    text: (text) => addText([0, 0, 0, 0, 0, 0], text),
    message: (message) => addMessage([0, 0, 0, 0, 0, 0], message),
    request({ messages, system, tools }) {
      const sums: Sums = [0, 0, 0, 0, 0, requestOverhead]
      if (system !== undefined) {
        addText(sums, system)
        sums[4]++
      }
      if (tools?.length) {
        addText(sums, json(tools), toolFactor)
        sums[5] += toolOverhead
      }
      for (const message of messages) addMessage(sums, message)
      return sums
    },
  }
}
