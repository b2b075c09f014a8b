import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { say } from '../../src/adapters/say.ts'
import type { Message, ToolBlock, UserBlock } from '../../src/message/schema.ts'
import { assistantMessage, toolMessage, userMessage } from '../support/messages.ts'
import { hearAll, responseOf } from './answers.ts'
import { geminiDefects } from './checkers/gemini.ts'
import { type Content, camelled, GeminiBody, type Part, sentGemini } from './checkers/gemini-body.ts'
import { readFixture } from './fixtures.ts'

const Entry = z.object({
  file: z.string(),
  api: z.string(),
  provider: z.string(),
  status: z.number(),
  model: z.string(),
})
const recorded = z
  .array(Entry)
  .parse(JSON.parse(readFixture('requests/index.json')))
  .filter(({ api }) => api === 'gemini')
  .map((entry): [string, z.infer<typeof Entry>, unknown] => [
    entry.file,
    entry,
    camelled(JSON.parse(readFixture(`requests/${entry.file}`))),
  ])
const accepted = recorded.filter(([, { status }]) => status === 200)
const rejected = recorded.filter(([, { status }]) => status !== 200)

function blockOf({ text, inlineData, fileData }: Part): UserBlock {
  if (text !== undefined) return { type: 'text', text }
  const { mimeType = '' } = { ...inlineData, ...fileData }
  const type = mimeType.startsWith('image/') ? 'image' : 'file'
  if (inlineData) return { type, mimeType, data: inlineData.data }
  return { type, mimeType, url: fileData?.fileUri ?? '' }
}

const isToolBlock = (block: UserBlock): block is ToolBlock => block.type !== 'file'
/** What a result says, in whatever field: the only one that there is, or all. */
const wordsOf = (response: Record<string, unknown>): string =>
  typeof response.output === 'string' ? response.output : JSON.stringify(response)

/** Recorded contents in our words. An answer is heard by the adapter, as it was when it was written. */
async function historyOf(contents: readonly Content[], provider: string): Promise<Message[]> {
  const adapter = geminiAdapter({ provider })
  const messages: Message[] = []
  const waiting: string[] = []
  for (const [i, content] of contents.entries()) {
    if (content.role === 'model') {
      const answer = JSON.stringify({ candidates: [{ content, finishReason: 'STOP' }] })
      const { message } = await hearAll(adapter, responseOf([answer]))
      waiting.push(...message.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : [])))
      messages.push(assistantMessage(`a${i}`, '', message))
      continue
    }
    for (const [j, { functionResponse }] of content.parts.entries()) {
      if (!functionResponse) continue
      const images = (functionResponse.parts ?? []).map((part) => blockOf(part)).filter(isToolBlock)
      const text: ToolBlock = { type: 'text', text: wordsOf(functionResponse.response) }
      messages.push(toolMessage(`t${i}-${j}`, waiting.shift() ?? '', { content: [text, ...images] }))
    }
    const said = content.parts.filter(({ functionResponse }) => !functionResponse)
    if (said.length > 0) messages.push(userMessage(`u${i}`, '', { content: said.map(blockOf) }))
  }
  return messages
}

/**
 * What contents mean: what is said, in order, whoever's turn it is split into, and what came of the calls. Ids are compared
 * where there were any; how many frames of a video are to be looked at has no place in a history.
 */
function meaning(contents: readonly Content[], withIds: boolean) {
  const parts = contents.flatMap((content) =>
    content.parts.map((part) => ({ role: content.role === 'model' ? 'model' : 'user', ...part })),
  )
  const said: (Part & { role: string })[] = []
  for (const { videoMetadata: _, functionResponse, functionCall, ...part } of parts) {
    if (functionResponse) continue
    const last = said.at(-1)
    const id = withIds ? functionCall?.id : undefined
    // Thoughts that follow each other are one.
    if (part.thought && last?.thought && last.role === part.role) last.text = `${last.text}${part.text}`
    else said.push({ ...part, ...(functionCall && { functionCall: { args: {}, ...functionCall, id } }) })
  }
  const results = parts.flatMap(({ functionResponse: result }) => {
    if (!result) return []
    const { id, name, response, parts: media } = result
    return [{ id: withIds && id, name, words: wordsOf(response), media }]
  })
  return { said, results }
}

describe('a request that Gemini accepted', () => {
  test('is accepted by our checker', () => {
    const defects = accepted.map(([file, { model }, body]) => [file, geminiDefects(body, model)])
    expect(defects.length).toBe(25)
    expect(defects.filter(([, found]) => found?.length !== 0)).toEqual([])
  })

  test.each(accepted)('comes out meaning the same: %s', async (_file, { provider, model }, recordedBody) => {
    const { contents, systemInstruction } = GeminiBody.parse(recordedBody)
    const messages = await historyOf(contents, provider)
    const [instruction] = [systemInstruction?.parts ?? []].flat()
    const system = instruction?.text ?? ''
    const { body } = say(geminiAdapter({ provider }), { system, messages }, { model })
    const sent = sentGemini(body)
    const hadIds = contents.some(({ parts }) => parts.some((part) => part.functionCall?.id !== undefined))
    expect(meaning(sent.contents, hadIds)).toEqual(meaning(contents, hadIds))
    expect(sent.systemInstruction?.parts).toEqual(system === '' ? undefined : [{ text: system }])
    expect(geminiDefects(sent, model)).toEqual([])
  })
})

/** Why a request was refused: by its shape, which a checker can see, or for a reason that is not in it. */
const REASONS: readonly (readonly [RegExp, 'shape' | string])[] = [
  [/invalid_role|invalid_temperature/, 'shape'],
  [/model_sees_multiple_images/, 'the image could not be fetched'],
  [/handles_context_/, 'too long for the window'],
  [/gemini_1_5_flash/, 'the key was wrong'],
  [/preview_tts/, 'the model speaks and does not write'],
]

describe('a request that Gemini rejected', () => {
  test('there are requests to test', () => expect(rejected).toHaveLength(7))

  test.each(rejected)('%s', async (file, { provider, model }, body) => {
    const [, reason] = REASONS.find(([pattern]) => pattern.test(file)) ?? []
    expect(reason).toBeDefined()
    expect(geminiDefects(body, model).length > 0).toBe(reason === 'shape')
    const { contents } = GeminiBody.parse(body)
    const messages = await historyOf(contents, provider)
    const sent = say(geminiAdapter({ provider }), { messages }, { model, temperature: 1 })
    expect(geminiDefects(sentGemini(sent.body), model)).toEqual([])
  })
})
