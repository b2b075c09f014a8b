import { fetchServerSentEvents } from '@tanstack/ai-client'
import { jsonSchema, parseJsonEventStream } from 'ai'
import type { SsePeer } from '../sse.ts'

/** Checks nothing, so that only the way of the bytes is measured. */
const anything = jsonSchema<unknown>({})

const aiSdk: SsePeer = {
  name: 'AI SDK 7',
  async read(response, onEvent) {
    if (!response.body) throw new Error('an answer without a body')
    const reader = parseJsonEventStream({ stream: response.body, schema: anything }).getReader()
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      if (piece.value.success) onEvent(piece.value.value)
  },
}

const tanstack: SsePeer = {
  name: 'TanStack AI',
  async read(response, onEvent) {
    const { connect } = fetchServerSentEvents('http://bench.invalid/chat', {
      fetchClient: async () => response,
    })
    const context = { threadId: 'thread', runId: 'run' }
    for await (const chunk of connect([], {}, new AbortController().signal, context)) onEvent(chunk)
  },
}

export const ssePeers: readonly SsePeer[] = [aiSdk, tanstack]
