import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod/mini'

const root = fileURLToPath(new URL('../../../shared/fixtures/providers/', import.meta.url))

/** A fixture as text. Fixtures are read in place; without them these tests prove nothing, so they fail. */
export function readFixture(path: string): string {
  if (!existsSync(root))
    throw new Error(
      'the provider fixtures are missing: expected them in ../shared/fixtures/providers beside the project',
    )
  return readFileSync(root + path, 'utf8')
}

/** Whether the file is there: of one expectation, it is not. */
export const hasFixture = (path: string): boolean => existsSync(root + path)

const Block = z.looseObject({
  type: z.string(),
  len: z.optional(z.number()),
  refusal: z.optional(z.boolean()),
})
const Call = z.object({ id: z.nullable(z.string()), name: z.string(), arguments: z.unknown() })
const Expected = z.object({
  provider: z.string(),
  api: z.string(),
  framing: z.string(),
  url: z.optional(z.nullable(z.string())),
  httpStatus: z.number(),
  chunkEnds: z.nullable(z.string()),
  model: z.nullable(z.string()),
  responseId: z.nullable(z.string()),
  content: z.array(Block),
  text: z.nullable(z.string()),
  textLenUtf16: z.number(),
  textSha256: z.string(),
  thinkingLen: z.number(),
  thinkingSha256: z.nullable(z.string()),
  toolCalls: z.array(Call),
  stopReason: z.nullable(z.string()),
  usage: z.nullable(
    z.object({
      input: z.number(),
      output: z.number(),
      cacheRead: z.number(),
      cacheWrite: z.number(),
      total: z.number(),
      reasoning: z.optional(z.number()),
    }),
  ),
  usageAmbiguous: z.optional(z.boolean()),
  rawUsage: z.unknown(),
  error: z.unknown(),
  request: z.unknown(),
  stream: z.boolean(),
})
export type Expected = z.infer<typeof Expected>

/** What a recorded answer must come out as, by its file, for one API. */
export function expectedAnswers(api: string): [string, Expected][] {
  const all = z
    .record(z.string(), z.looseObject({ api: z.string() }))
    .parse(JSON.parse(readFixture('expected.json')))
  return Object.entries(all)
    .filter(([, value]) => value.api === api)
    .map(([file, value]) => [file, Expected.parse(value)])
}

const Event = z.looseObject({ type: z.optional(z.string()) })

/** One payload as a server-sent event. Anthropic and OpenAI's Responses name their events; others send data alone. */
function frameOf(payload: string, api: string): string {
  const named = api === 'anthropic' || api === 'openai-responses'
  return `${named ? `event: ${Event.parse(JSON.parse(payload)).type}\n` : ''}data: ${payload}\n\n`
}

/** The body of a recorded answer, as bytes. */
export function answerBytes(file: string, { framing, api }: Pick<Expected, 'framing' | 'api'>): Uint8Array {
  const text = readFixture(`streams/${file}`)
  if (framing !== 'jsonl') return new TextEncoder().encode(text)
  const payloads = text.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '[DONE]')
  const frames = payloads.map((payload) => frameOf(payload, api))
  if (api === 'openai-chat') frames.push('data: [DONE]\n\n')
  return new TextEncoder().encode(frames.join(''))
}

/** Where the recorded network chunks ended; only the whole where that is not known. */
export function recordedCuts(file: string, { chunkEnds }: Expected): number[] {
  if (chunkEnds === null) return []
  return z
    .array(z.number())
    .parse(JSON.parse(readFixture(`streams/${file.slice(0, file.lastIndexOf('/'))}/${chunkEnds}`)))
}

/** Bytes cut at the given offsets. */
export function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
}

export const oneByOne = (bytes: Uint8Array): Uint8Array[] => Array.from(bytes, (byte) => Uint8Array.of(byte))

const FaultInput = z.object({
  api: z.optional(z.string()),
  target: z.optional(z.string()),
  body: z.optional(z.union([z.string(), z.array(z.string())])),
  json: z.optional(z.unknown()),
  twoAnswers: z.optional(z.array(z.string())),
})
const Fault = z.object({
  id: z.string(),
  direction: z.enum(['parse', 'serialise']),
  symptom: z.string(),
  right: z.string(),
  input: z.looseObject(FaultInput.shape),
  expect: z.optional(z.looseObject({})),
})
export type Fault = z.infer<typeof Fault>

/** Faults reported against other adapters, as minimal inputs. */
export const faults = (): Fault[] => z.array(Fault).parse(JSON.parse(readFixture('faults.json')))
