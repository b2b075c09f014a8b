import * as z from 'zod/mini'
import type { LanguageModelApi, LanguageModelSession } from '../../src/chrome.ts'

/** The Prompt API as its explainer and its web platform tests have it, with a model that is a script. */
export interface FakeLanguageModel extends LanguageModelApi {
  /** What sessions were made with, and what they were asked. */
  readonly created: Created[]
  readonly asked: { input: Message[]; options: PromptOptions }[]
  /** Sessions that were not destroyed. */
  alive(): number
}

export interface FakeOptions {
  /** What it says to anything, chunk by chunk; an error breaks the stream, a promise holds it. */
  answer?: readonly (string | object | Error | Promise<unknown>)[]
  availability?: 'unavailable' | 'downloadable' | 'downloading' | 'available'
  /** Whether the user has just clicked: only then may a download begin. @default true */
  activated?: boolean
  /** What it understands beside text. */
  inputs?: readonly string[]
  /** Tokens, which are words. @default 100 */
  window?: number
  /** Which names its counts have; `none`: it counts nothing. @default 'context' */
  names?: 'context' | 'input' | 'none'
  /** What making a session waits for, or fails with. */
  creating?: Promise<unknown>
}

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string(), value: z.unknown() }))])
const Message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: Content })
export type Message = z.infer<typeof Message>
const Messages = z.array(Message)
const Expected = z.optional(z.array(z.looseObject({ type: z.string() })))
const Core = z.looseObject({ expectedInputs: Expected })
const Created = z.looseObject({
  expectedInputs: Expected,
  initialPrompts: z._default(Messages, []),
  signal: z.optional(z.instanceof(AbortSignal)),
  monitor: z.optional(z.custom<(target: EventTarget) => void>((value) => typeof value === 'function')),
})
type Created = z.infer<typeof Created>
const PromptOptions = z.looseObject({ signal: z.optional(z.instanceof(AbortSignal)) })
type PromptOptions = z.infer<typeof PromptOptions>

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length
const tokensIn = (messages: readonly Message[]): number =>
  messages
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : content.map(({ value }) => value)))
    // A picture is as good as ten words.
    .reduce<number>((sum, value) => sum + (typeof value === 'string' ? wordsIn(value) : 10), 0)

/** `QuotaExceededError` is a class of its own now, with the numbers. */
const quotaExceeded = (requested: number, quota: number): Error =>
  Object.assign(new DOMException('The input is too large.', 'QuotaExceededError'), { requested, quota })

/** What is wrong with messages for a session that expects these inputs. */
function assertTakes(messages: readonly Message[], inputs: readonly string[], isFirst: boolean): void {
  for (const [i, { role, content }] of messages.entries()) {
    if (role === 'system' && !(isFirst && i === 0)) throw new TypeError('a system prompt must be the first')
    for (const { type, value } of typeof content === 'string' ? [] : content) {
      if (type === 'text') {
        if (typeof value !== 'string') throw new TypeError('text must be a string')
      } else if (!inputs.includes(type) || role !== 'user') throw new DOMException(type, 'NotSupportedError')
      else if (!(value instanceof Blob)) throw new TypeError(`${type} must be a blob`)
    }
  }
}

export function fakeLanguageModel(options: FakeOptions = {}): FakeLanguageModel {
  const { availability = 'available', activated = true, inputs = [], window = 100 } = options
  const created: Created[] = []
  const asked: FakeLanguageModel['asked'] = []
  const sessions = new Set<object>()
  const isTaken = (expected: z.infer<typeof Expected>) =>
    (expected ?? []).every(({ type }) => type === 'text' || inputs.includes(type))
  return {
    created,
    asked,
    alive: () => sessions.size,
    async availability(given) {
      return isTaken(Core.parse(given ?? {}).expectedInputs) ? availability : 'unavailable'
    },
    async create(given) {
      const made = Created.parse(given ?? {})
      const { initialPrompts, signal, monitor, expectedInputs } = made
      signal?.throwIfAborted()
      if (availability === 'unavailable' || !isTaken(expectedInputs))
        throw new DOMException('The device is unable to create a session.', 'NotSupportedError')
      if (availability !== 'available' && !activated)
        throw new DOMException('Requires a user gesture.', 'NotAllowedError')
      const target = new EventTarget()
      monitor?.(target)
      for (const loaded of [0, 1])
        target.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded }))
      await options.creating
      const expected = (expectedInputs ?? []).map(({ type }) => type)
      assertTakes(initialPrompts, expected, true)
      const used = tokensIn(initialPrompts)
      if (used > window) throw quotaExceeded(used, window)
      created.push(made)
      const session = sessionOf(options, {
        expected,
        used,
        window,
        asked,
        end: () => sessions.delete(session),
      })
      sessions.add(session)
      return session
    },
  }
}

interface Inside {
  expected: readonly string[]
  used: number
  window: number
  asked: FakeLanguageModel['asked']
  end(): void
}

/** What it says to a prompt, as it says it; what it cannot take, it refuses before the first word. */
async function* say(
  answer: NonNullable<FakeOptions['answer']>,
  inside: Inside,
  input: Message[],
  signal?: AbortSignal,
) {
  assertTakes(input, inside.expected, false)
  const needed = tokensIn(input)
  if (inside.used + needed > inside.window) throw quotaExceeded(needed, inside.window - inside.used)
  let said = ''
  for (const chunk of answer) {
    signal?.throwIfAborted()
    if (chunk instanceof Error) throw chunk
    if (chunk instanceof Promise) await chunk
    else {
      if (typeof chunk === 'string') said += chunk
      yield chunk
    }
  }
  inside.used += needed + wordsIn(said)
}

function sessionOf(
  { answer = ['Hi'], names = 'context' }: FakeOptions,
  inside: Inside,
): LanguageModelSession {
  let destroyed = false
  const measure = async (input: readonly object[]) => tokensIn(Messages.parse(input))
  return {
    promptStreaming(given, options) {
      if (destroyed) throw new DOMException('The session is destroyed.', 'InvalidStateError')
      const [input, rules] = [Messages.parse(given), PromptOptions.parse(options ?? {})]
      inside.asked.push({ input, options: rules })
      const chunks = say(answer, inside, input, rules.signal)
      return new ReadableStream({
        async pull(controller) {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: async () => void (await chunks.return()),
      })
    },
    destroy() {
      destroyed = true
      inside.end()
    },
    ...(names === 'context' && { measureContextUsage: measure }),
    ...(names === 'input' && { measureInputUsage: measure }),
    get contextUsage() {
      return names === 'context' ? inside.used : Number.NaN
    },
    get inputUsage() {
      return names === 'input' ? inside.used : Number.NaN
    },
  }
}
