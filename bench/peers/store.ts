import { Chat } from '@ai-sdk/react'
import { ChatClient, fetchServerSentEvents } from '@tanstack/ai-client'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { formatSse } from '../../src/lib/sse.ts'
import { chunksOf } from '../answer.ts'
import { assertText, type StorePeer } from '../store.ts'
import { eventStreamResponse, timed } from '../stream.ts'

const ADDRESS = 'http://bench.invalid/chat'
const QUESTION = 'What is a tidemark?'

const eventsOf = (payloads: readonly unknown[]): string[] =>
  payloads.map((payload) => formatSse({ data: JSON.stringify(payload) }))

/** The text of an answer in either library's shape. */
function textIn(parts: readonly { type: string; text?: string; content?: unknown }[] | undefined): string {
  const texts = parts?.flatMap(({ type, text, content }) => (type === 'text' ? [text ?? content] : [])) ?? []
  return texts.join('')
}

const aiSdk: StorePeer = {
  name: 'AI SDK 7',
  contestant(answer, chunking) {
    const id = 'text'
    const stream = [
      { type: 'start', messageId: 'answer' },
      { type: 'start-step' },
      { type: 'text-start', id },
      ...answer.deltas.map((delta) => ({ type: 'text-delta', id, delta })),
      { type: 'text-end', id },
      { type: 'finish-step' },
      { type: 'finish' },
    ]
    const chunks = chunksOf([...eventsOf(stream), formatSse({ data: '[DONE]' })], chunking)
    return {
      name: aiSdk.name,
      units: answer.deltas.length,
      every: 3,
      async run() {
        const { source, elapsed } = timed(chunks)
        const transport = new DefaultChatTransport({
          api: ADDRESS,
          fetch: async () => eventStreamResponse(source),
        })
        const chat = new Chat({ transport })
        let last: UIMessage | undefined
        chat['~registerMessagesCallback'](() => {
          last = chat.messages.at(-1)
        })
        await chat.sendMessage({ text: QUESTION })
        const time = elapsed()
        assertText(aiSdk.name, textIn(last?.parts), answer)
        return time
      },
    }
  },
}

const tanstack: StorePeer = {
  name: 'TanStack AI',
  contestant(answer, chunking) {
    const ids = { threadId: 'thread', runId: 'run' }
    const messageId = 'answer'
    const stream = [
      { type: 'RUN_STARTED', ...ids },
      { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
      ...answer.deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
      { type: 'TEXT_MESSAGE_END', messageId },
      { type: 'RUN_FINISHED', ...ids, finishReason: 'stop' },
    ]
    const chunks = chunksOf(eventsOf(stream), chunking)
    return {
      name: tanstack.name,
      units: answer.deltas.length,
      // It waits for a timer after each event, to let the page paint: ten thousand of them take most of a minute.
      every: 15,
      async run() {
        const { source, elapsed } = timed(chunks)
        const connection = fetchServerSentEvents(ADDRESS, {
          fetchClient: async () => eventStreamResponse(source),
        })
        let last: ReturnType<ChatClient['getMessages']>[number] | undefined
        const client = new ChatClient({
          connection,
          onMessagesChange(messages) {
            last = messages.at(-1)
          },
        })
        await client.sendMessage(QUESTION)
        const time = elapsed()
        assertText(tanstack.name, textIn(last?.parts), answer)
        return time
      },
    }
  },
}

export const storePeers: readonly StorePeer[] = [aiSdk, tanstack]
