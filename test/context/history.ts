import fc from 'fast-check'
import type { Message } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolCall, toolMessage, userMessage } from '../support/messages.ts'

const text = fc.constantFrom('', ' ', 'short', 'x'.repeat(40), 'x'.repeat(400), '潮の満ち引き')
const callId = fc.constantFrom('c1', 'c2', 'c3')

const user = fc
  .record({ text, status: fc.constantFrom('completed', 'completed', 'completed', 'pending', 'failed') })
  .map(({ text, status }) => userMessage('', text, { status }))

const assistant = fc
  .record({
    text,
    status: fc.constantFrom('completed', 'completed', 'completed', 'streaming', 'failed', 'interrupted'),
    thinks: fc.boolean(),
    calls: fc.array(fc.record({ id: callId, server: fc.boolean() }), { maxLength: 3 }),
  })
  .map(({ text, status, thinks, calls }) => {
    const thinking = thinks ? [{ type: 'thinking' as const, text: 'hm', signature: 'x' }] : []
    const said = text === '' ? [] : [{ type: 'text' as const, text }]
    const called = calls.map(({ id, server }) => toolCall(id, server ? { server } : {}))
    return assistantMessage('', '', { status, content: [...thinking, ...said, ...called] })
  })

const tool = fc
  .record({
    id: callId,
    text,
    status: fc.constantFrom('completed', 'completed', 'completed', 'pending', 'failed'),
  })
  .map(({ id, text, status }) => toolMessage('', id, { status, content: [{ type: 'text', text }] }))

const system = text.map((text) => systemMessage('', text))

/** An answer with calls and results that mostly belong to it. */
const step = fc
  .record({
    answer: assistant,
    keep: fc.array(fc.constantFrom(true, true, true, false), { maxLength: 3 }),
    results: fc.array(tool, { maxLength: 3 }),
  })
  .map(({ answer, keep, results }): Message[] => {
    const calls = answer.content.filter((block) => block.type === 'toolCall')
    const own = results.map((result, at) =>
      keep[at] ? { ...result, toolCallId: calls[at]?.id ?? 'c1' } : result,
    )
    return [answer, ...own]
  })

/**
 * A branch as damaged as can be: doubles, half results, several system messages, orphans, cut answers, messages in flight.
 * Ids are unique but for the doubles.
 */
export const history: fc.Arbitrary<Message[]> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: step },
      { weight: 3, arbitrary: user.map((one) => [one]) },
      { weight: 1, arbitrary: system.map((one) => [one]) },
      { weight: 1, arbitrary: tool.map((one) => [one]) },
      { weight: 1, arbitrary: fc.constant('double' as const) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => {
    const messages: Message[] = []
    for (const part of parts) {
      const last = messages.at(-1)
      if (part !== 'double')
        for (const message of part) messages.push({ ...message, id: `m${messages.length}` })
      else if (last) messages.push(last)
    }
    return messages
  })
