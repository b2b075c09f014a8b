import { isDeepStrictEqual } from 'node:util'
import OpenAI from 'openai'
import { expect } from 'vitest'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import { callsIn, type Heard, textIn } from './answers.ts'
import { type Expected, expectedAnswers, hasFixture } from './fixtures.ts'

/** What an SDK and we say of an answer. */
export interface Opinion {
  model: string | undefined
  responseId: string | undefined
  text: string
  calls: unknown[]
  /** What is neither text, thinking nor call. */
  others: unknown[]
  /** Tokens read and written; undefined where there is no usage. */
  usage: number[] | undefined
}

const ourOpinion = (message: AssistantDraft): Opinion => {
  const { model, responseId, usage } = message
  return {
    model,
    responseId,
    text: textIn(message),
    calls: callsIn(message).map((call) => [call.id, call.name, call.arguments]),
    others: message.content.flatMap((block) =>
      block.type === 'other' ? [block.raw] : block.type === 'image' ? ['image'] : [],
    ),
    usage: usage && [usage.input + usage.cacheRead + usage.cacheWrite, usage.output],
  }
}

/** A call's arguments as the SDK has them. */
export const parsed = (args: unknown): unknown => JSON.parse(String(args || '{}'))

/** OpenAI's SDK, which is answered these bytes. */
export const sdkOf = (text: string): OpenAI =>
  new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  })

/** Where we differ on purpose: in which files, why, and in what; or with which words the SDK gives up. */
export interface Difference {
  files: RegExp
  reason: string
  fields?: readonly (keyof Opinion)[]
  throws?: RegExp
}

/** The recorded streams of an API, by their file. */
export const recordedStreams = (api: string): [string, Expected][] =>
  expectedAnswers(api).filter(
    ([file, { framing, httpStatus }]) =>
      framing !== 'json' && httpStatus === 200 && hasFixture(`streams/${file}`),
  )

/** Holds what we heard against the SDK's opinion. Where both fail, they do so with the same words. */
export async function expectSame(
  { message, error }: Heard,
  opinion: Promise<Partial<Opinion>>,
  { fields = [], throws }: Partial<Difference> = {},
): Promise<void> {
  const theirs = await opinion.catch((thrown: unknown) => thrown)
  if (theirs instanceof Error) {
    if (throws) expect(theirs.message).toMatch(throws)
    else expect(error?.message).toContain(theirs.message)
    return
  }
  expect(throws).toBeUndefined()
  const other = new Map(Object.entries(Object(theirs)))
  const differing = Object.entries(ourOpinion(message)).filter(
    ([name, value]) => other.has(name) && !isDeepStrictEqual(value, other.get(name)),
  )
  expect(differing.map(([name]) => name)).toEqual(fields)
}
