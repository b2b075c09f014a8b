import * as z from 'zod/mini'
import type { ModelContext } from '../../src/adapters/contract.ts'
import { AssistantBlock, type Message, UserBlock } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'
import type { Fault } from './fixtures.ts'

const Block = z.looseObject({ type: z.string() })
const Tool = z.looseObject({ name: z.string(), parameters: z.record(z.string(), z.unknown()) })
const Input = z.looseObject({
  system: z.optional(z.string()),
  stream: z.optional(z.boolean()),
  stop: z.optional(z.array(z.string())),
  temperature: z.optional(z.number()),
  tools: z.optional(z.array(Tool)),
  messages: z._default(
    z.array(
      z.looseObject({
        role: z.string(),
        content: z.array(Block),
        stopReason: z.optional(z.enum(['stop', 'length', 'toolUse', 'error', 'aborted'])),
        provider: z.optional(z.nullable(z.string())),
        toolCallId: z.optional(z.string()),
        isError: z.optional(z.boolean()),
      }),
    ),
    [],
  ),
})
type InputMessage = z.infer<typeof Input>['messages'][number]

/** A fault's message in our words. */
function canonical(input: InputMessage, at: number, own: string | undefined): Message {
  const { role, content, stopReason, toolCallId = '', isError = false } = input
  const provider = input.provider ?? own
  const id = `m${at}`
  const user = z.array(UserBlock).safeParse(content).data ?? []
  if (role === 'user') return userMessage(id, '', { content: user })
  const texts = user.filter((block) => block.type === 'text')
  if (role === 'system') return systemMessage(id, '', { content: texts })
  const results = user.filter((block) => block.type !== 'file')
  if (role === 'toolResult') return toolMessage(id, toolCallId, { content: results, isError })
  return assistantMessage(id, '', {
    content: z.array(AssistantBlock).parse(content.map((block) => ({ text: block.thinking, ...block }))),
    ...(stopReason && { stopReason }),
    ...(provider && { provider }),
  })
}

/** What a fault of saying is about: the context, and the options it names. Answers of nobody in particular are `own`'s. */
export function saidIn({ input }: Fault, own?: string) {
  const { messages, system, tools, stream, stop, temperature } = Input.parse(input)
  const context: ModelContext = {
    messages: messages.map((message, at) => canonical(message, at, own)),
    ...(system !== undefined && { system }),
    ...(tools && { tools }),
  }
  const options = {
    ...(stop && { stop }),
    ...(temperature !== undefined && { temperature }),
    ...(stream !== undefined && { stream }),
  }
  return { context, options }
}
