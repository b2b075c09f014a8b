import { afterEach, beforeEach, expect } from 'vitest'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { httpModel } from '../../src/runtime/http-model.ts'
import type { HttpModelOptions } from '../../src/runtime/model-options.ts'
import { userMessage } from '../support/messages.ts'
import { type ModelServer, modelServer } from './model-server.ts'
import { stoppedClock } from './stopped-clock.ts'

export const context = { messages: [userMessage('1', 'Hi')] }
export const SSE = { 'content-type': 'text/event-stream' }

export const piece = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'm-1', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

/** Servers and a clock of each test's own. After each, servers are stopped, and no timer may wait for a call that is over. */
export function modelStage() {
  const stage = {
    clock: stoppedClock(),
    servers: new Set<ModelServer>(),
    async serve(answer: Parameters<typeof modelServer>[0]): Promise<ModelServer> {
      const server = await modelServer(answer)
      stage.servers.add(server)
      return server
    },
    modelOf: (baseURL: string, more: Partial<HttpModelOptions> = {}) =>
      httpModel({
        adapter: chatAdapter({ provider: 'p' }),
        model: 'm',
        baseURL,
        env: stage.clock,
        ...more,
      }),
  }
  beforeEach(() => {
    stage.clock = stoppedClock()
    stage.servers.clear()
  })
  afterEach(async () => {
    for (const server of stage.servers) await server.stop()
    expect(stage.clock.waiting).toEqual([])
  })
  return stage
}

export async function eventsOf(events: AsyncIterable<ModelEvent>, onEvent?: (event: ModelEvent) => void) {
  const heard: ModelEvent[] = []
  for await (const event of events) {
    heard.push(event)
    onEvent?.(event)
  }
  return heard
}

export const lastOf = async (events: AsyncIterable<ModelEvent>) => (await eventsOf(events)).at(-1)
