import { expect, onTestFinished } from 'vitest'
import type { Model } from '../../src/adapters/contract.ts'
import { createChat } from '../../src/chat/create.ts'
import { openai } from '../../src/openai.ts'
import { direct } from '../../src/runtime/direct.ts'
import { tool } from '../../src/turn/tool.ts'
import { readFixture } from '../adapters/fixtures.ts'
import type { WatchedStorage } from '../chat/storages.ts'
import { createWorld, idle } from '../chat/world.ts'
import { type ResponsesServer, responsesServer } from './responses-server.ts'
import { type Clock, stoppedClock } from './stopped-clock.ts'

const recorded = (name: string) => readFixture(`streams/openai/prism-openai-stream-${name}.sse`)
/** Thinking and a call, then a text. */
export const RECORDINGS = [
  recorded('multi-tool-conversation-responses-reasoning-past-reasoning-1'),
  recorded('multi-tool-conversation-responses-reasoning-3'),
]

export async function serve(recordings: readonly string[] = RECORDINGS): Promise<ResponsesServer> {
  const server = await responsesServer(recordings)
  onTestFinished(server.stop)
  return server
}

type Options = { baseURL: string; env: Clock; fetch: typeof fetch }
const openaiModel = (options: Options): Model => openai('gpt-5.2', { ...options, background: true })

/** A page that asks the server. What it is sent is counted; once it is gone, nothing reaches it. */
export function page(
  { url: baseURL }: Pick<ResponsesServer, 'url'>,
  storage: WatchedStorage,
  name: string,
  modelOf = openaiModel,
) {
  const world = createWorld({ name })
  let [heard, gone, unplugged] = [0, false, false]
  const count = new TextDecoder()
  const counting: typeof fetch = async (...request) => {
    if (gone) return new Promise(() => {})
    if (unplugged) throw new TypeError('Failed to fetch')
    const response = await fetch(...request)
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(bytes, out) {
          if (gone) return
          heard += count.decode(bytes).split('\n\n').length - 1
          out.enqueue(bytes)
        },
      }),
    )
    return new Response(body ?? null, response)
  }
  const model = modelOf({ baseURL, env: stoppedClock(), fetch: counting })
  let executed = 0
  const execute = () => `result ${++executed}`
  const tools = ['search', 'get_weather'].map((name) =>
    tool({ name, parameters: { type: 'object' }, execute }),
  )
  const chat = createChat({ storage, env: world.env, runtime: direct({ model, tools }) })
  const go = () => {
    gone = true
    storage.fail(() => true)
  }
  return {
    chat,
    session: chat.session('s'),
    world,
    go,
    /** Whether the next request finds no server. */
    unplug(now = true) {
      unplugged = now
    },
    heard: () => heard,
    executed: () => executed,
  }
}

export type Page = ReturnType<typeof page>

export const until = (holds: () => boolean) => expect.poll(holds, { timeout: 20_000, interval: 1 }).toBe(true)
export const last = ({ session }: Page) => session.get().messages.at(-1)
export const isDone = (open: Page) =>
  open.session.get().status === 'ready' && last(open)?.status === 'completed'

/** Asks, and lets the model write so much of its answers. */
export async function halfway(open: Page, server: ResponsesServer, question: number, events: number) {
  await open.session.send('What is the weather?')
  await until(() => server.asked.length === 1)
  let before = 0
  for (let at = 0; at < question; at++) {
    before += server.eventsOf(at)
    server.writeTo(at, server.eventsOf(at))
    await until(() => server.asked.length === at + 2)
  }
  server.writeTo(question, events)
  await until(() => open.heard() === before + events && last(open)?.status === 'streaming')
  await idle(3)
}
