import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { collect } from '../../src/adapters/collect.ts'
import { hear } from '../../src/adapters/hear.ts'
import { say } from '../../src/adapters/say.ts'
import type { Message, ToolBlock, UserBlock } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'
import { responseOf } from './answers.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { type MessagesBody, type Part, sentMessages, turnsIn } from './checkers/anthropic-body.ts'
import { expectedAnswers, readFixture } from './fixtures.ts'

const Entry = z.object({ file: z.string(), api: z.string(), status: z.number() })
const recorded = z
  .array(Entry)
  .parse(JSON.parse(readFixture('requests/index.json')))
  .filter(({ api }) => api === 'anthropic')
  .map((entry) => ({ ...entry, body: JSON.parse(readFixture(`requests/${entry.file}`)) }))
const accepted = recorded.filter(({ status }) => status === 200)
const rejected = recorded.filter(({ status }) => status !== 200)

const adapter = messagesAdapter()

/** A part of a user's message, or of a result, in our words. */
const Media = z.looseObject({
  type: z.enum(['image', 'document']),
  source: z.looseObject({
    type: z.string(),
    media_type: z.optional(z.string()),
    data: z.optional(z.string()),
    url: z.optional(z.string()),
  }),
})

function blockOf(part: Part): UserBlock {
  if (part.type === 'text') return { type: 'text', text: String(part.text) }
  const media = Media.safeParse(part).data
  // It lives at the provider, and has no name in our words.
  if (!media) return { type: 'file', mimeType: 'application/octet-stream', attachmentId: 'elsewhere' }
  const { type, source } = media
  if (source.type === 'text') return { type: 'text', text: source.data ?? '' }
  const mimeType = source.media_type ?? (type === 'image' ? 'image/*' : 'application/pdf')
  const place =
    source.type === 'url'
      ? { url: source.url ?? '' }
      : source.data
        ? { data: source.data }
        : { attachmentId: 'x' }
  return { type: type === 'image' ? 'image' : 'file', mimeType, ...place }
}

const isToolBlock = (block: UserBlock): block is ToolBlock => block.type !== 'file'
const partsOf = (content: unknown): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : z.array(z.looseObject({})).parse(content)

/** A recorded message in our words. An answer is heard by the adapter, as it was when it was written. */
async function canonical(
  { role, content }: MessagesBody['messages'][number],
  at: number,
): Promise<Message[]> {
  const id = `m${at}`
  const parts = partsOf(content)
  if (role === 'system') return [systemMessage(id, parts.map(({ text }) => text).join('\n\n'))]
  if (role === 'assistant') {
    const answer = { type: 'message', id, role, content: parts, stop_reason: 'end_turn' }
    const heard = await collect(hear(adapter, responseOf([JSON.stringify(answer)])))
    return [assistantMessage(id, '', heard)]
  }
  const results = parts.filter(({ type }) => type === 'tool_result')
  const others = parts.filter(({ type }) => type !== 'tool_result')
  return [
    ...results.map((result, i) =>
      toolMessage(`${id}_${i}`, String(result.tool_use_id), {
        content: partsOf(result.content).map(blockOf).filter(isToolBlock),
        isError: result.is_error === true,
      }),
    ),
    ...(others.length > 0 ? [userMessage(id, '', { content: others.map(blockOf) })] : []),
  ]
}

async function encodedAgain(body: unknown, options = {}): Promise<MessagesBody> {
  const { model = '', system, messages, max_tokens: most } = sentMessages(body)
  const history = (await Promise.all(messages.map(canonical))).flat()
  const instructions = partsOf(system ?? []).map(({ text }) => text)
  const context = { messages: history, system: instructions.join('\n\n') }
  return sentMessages(say(adapter, context, { model, maxOutputTokens: most, ...options }).body)
}

/** Files at the provider and names of deferred tools have no words of ours; a document of text is text. */
function meaningOf(part: Part): unknown[] {
  const { cache_control: _, citations, ...rest } = part
  const { type, source } = Media.safeParse(part).data ?? {}
  if (part.type === 'tool_reference' || part.type === 'container_upload' || source?.type === 'file') return []
  if (/^\[file .* not shown\]$/.test(String(part.text))) return []
  if (type === 'document' && source?.type === 'text') return [{ type: 'text', text: source.data }]
  if (part.type === 'tool_result') {
    const content = partsOf(part.content ?? []).flatMap(meaningOf)
    return [{ type: part.type, id: part.tool_use_id, content, isError: part.is_error === true }]
  }
  return [{ ...rest, ...(citations !== null && citations !== undefined && { citations }) }]
}

/** What a request means, by who says it. Neighbouring answers with calls may have their results after each. */
function meaning(body: MessagesBody): unknown {
  const turns = turnsIn(body)
  const said = (role: string) => turns.filter((turn) => turn.role === role).flatMap(({ parts }) => parts)
  return {
    system: partsOf(body.system ?? []).map(({ text }) => text),
    user: said('user').flatMap(meaningOf),
    assistant: said('assistant').flatMap(meaningOf),
    inside: said('system').flatMap(meaningOf),
  }
}

describe('a request that Anthropic accepted', () => {
  test('there are some', () => expect(accepted.length).toBeGreaterThan(20))

  test.each(accepted.map(({ file, body }) => [file, body] as const))(
    'comes out meaning the same: %s',
    async (_file, body) => {
      const encoded = await encodedAgain(body)
      expect(meaning(encoded)).toEqual(meaning(sentMessages(body)))
      expect(messagesDefects(encoded)).toEqual([])
    },
  )

  test('is accepted by our checker', () => {
    expect(accepted.map(({ file, body }) => [file, messagesDefects(body)])).toEqual(
      accepted.map(({ file }) => [file, []]),
    )
  })

  test('is accepted by our checker, where its answer was recorded, too', () => {
    const requests = expectedAnswers('anthropic').flatMap(([file, { httpStatus, request }]) => {
      if (httpStatus !== 200 || typeof request !== 'string') return []
      const body: unknown = JSON.parse(readFixture(`streams/${file.replace(/[^/]*$/, request)}`))
      return [[file, messagesDefects(body)]]
    })
    expect(requests.length).toBeGreaterThan(20)
    expect(requests.filter(([, defects]) => defects?.length)).toEqual([])
  })
})

describe('a request that Anthropic rejected', () => {
  test.each(rejected.map(({ file, body }) => [file, body] as const))(
    'is refused by our checker, and does not come out so: %s',
    async (_file, body) => {
      expect(messagesDefects(body)).not.toEqual([])
      // It asked for more effort than the model knows.
      expect(messagesDefects(await encodedAgain(body, { thinking: 'max' }))).toEqual([])
    },
  )
})
