import { onTestFinished } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import type { ToolMessage } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { direct } from '../../src/runtime/direct.ts'
import { type ScriptPiece, type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { structured } from '../../src/turn/structured.ts'
import type { Tool, ToolOptions } from '../../src/turn/tool.ts'
import { type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { createWorld } from '../chat/world.ts'
import { type Client, openClient, reload as reloadClient } from '../scenarios/client.ts'
import { createBrowser, type Page } from '../scenarios/page.ts'
import { pass, type Server, startServer, until } from '../scenarios/server.ts'
import { temporaryFolder } from '../server/stage.ts'

/** What makes a tool's `execute` that is noted each time it is called. */
export type Spy = (name: string, work?: (args: unknown) => unknown) => NonNullable<ToolOptions['execute']>

export interface SceneOptions {
  /** What the model says after so many answers to the question. */
  steps: readonly ScriptStep[] | ((question: string, answered: number) => ScriptStep)
  /** @param chat where they run: that of the page, or one of the server's own over its handler */
  tools(spy: Spy, chat: () => Chat): Tool[]
}

/** A chat with a model that calls tools, over one of the runtimes. Its pages and servers can go without a word. */
export interface Scene {
  /** What was executed: name and arguments. */
  readonly executed: readonly string[]
  readonly session: ChatSession
  /** Another session of the same chat. */
  sessionOf(id: string): ChatSession
  /** The page goes, and comes back. */
  reload(): Promise<void>
  /** So does what executes the tools: the server where there is one, else the page. */
  crash(): Promise<void>
  /** Another page: a second tab, or where there is a server, another device. */
  other(): ChatSession
  pass(ms: number): Promise<void>
  until(holds: () => boolean): Promise<void>
}

export type Call = readonly [name: string, args?: unknown, id?: string]

export const calling = (...calls: readonly Call[]): ScriptPiece[] =>
  calls.map(([name, args = {}, id]) => ({ toolCall: { name, arguments: args, ...(id && { id }) } }))

/** Goes on by what the history holds: a process that begins anew says what the last one would have said. */
const modelOf = ({ steps }: SceneOptions) =>
  scriptedModel(({ messages }) => {
    const from = messages.findLastIndex(({ role }) => role === 'user')
    const answered = messages.slice(from).filter(({ role }) => role === 'assistant').length
    const question = messages[from]
    if (typeof steps === 'function') return steps(question ? textOf(question) : '', answered)
    return steps[answered] ?? 'The end.'
  })

/** Notes what is executed, as long as the process lives that does so. */
function spyOn(executed: string[], isAlive: () => boolean): Spy {
  return (name, work = (args) => args) =>
    (args) => {
      if (!isAlive()) return new Promise(() => {})
      executed.push(`${name} ${JSON.stringify(args)}`)
      return work(args)
    }
}

function directScene(options: SceneOptions): Scene {
  const world = createWorld()
  const executed: string[] = []
  const browser = createBrowser()
  function open(storage: WatchedStorage, page: Page) {
    let alive = true
    const tools = options.tools(
      spyOn(executed, () => alive),
      () => chat,
    )
    const runtime = direct({ model: modelOf(options), tools, structured })
    const chat: Chat = createChat({ storage, env: world.env, runtime, platform: page.platform })
    onTestFinished(() => chat.close())
    async function die() {
      alive = false
      storage.fail(() => true)
      // Its locks go with it; what it would still say is not written.
      await chat.close()
    }
    return { chat, session: chat.session('s'), storage, die }
  }
  let now = open(watchedStorage(undefined, 'db'), browser.page())
  async function reload() {
    await now.die()
    now = open(now.storage.reopen(), browser.page())
  }
  return {
    executed,
    get session() {
      return now.session
    },
    sessionOf: (id) => now.chat.session(id),
    reload,
    crash: reload,
    other: () => open(now.storage.reopen(), browser.page()).session,
    pass: world.pass,
    until: (holds) => world.until(holds),
  }
}

/** A process of a server: what it executes is noted while it lives, and its tools may have a chat of its own over it. */
function processOf(options: SceneOptions, executed: string[], openInner: () => Client) {
  const life = { ends: false }
  let inner: Client | undefined
  const chat = () => {
    inner ??= openInner()
    return inner.chat
  }
  const spy = spyOn(executed, () => !life.ends)
  return {
    tools: options.tools(spy, chat),
    die() {
      life.ends = true
      if (!inner) return
      inner.line.online = false
      inner.line.cut()
      void inner.chat.close()
    },
  }
}

function remoteScene(options: SceneOptions): Scene {
  const world = createWorld()
  const executed: string[] = []
  const process = () => processOf(options, executed, () => openClient(server, { name: `inner-${++pages}` }))
  let pages = 0
  let now = process()
  const server: Server = startServer({
    world,
    file: `${temporaryFolder()}/chat.db`,
    model: modelOf(options),
    tools: now.tools,
    batch: 0,
    lease: 2_000,
  })
  let client: Client = openClient(server)
  return {
    executed,
    get session() {
      return client.session
    },
    sessionOf: (id) => client.chat.session(id),
    async reload() {
      client = await reloadClient(client, `page-${++pages}`)
    },
    async crash() {
      now.die()
      server.die()
      client.line.cut()
      now = process()
      server.start({ tools: now.tools })
    },
    other: () => openClient(server, { name: `other-${++pages}` }).session,
    pass: (ms) => pass(server, ms),
    until: (holds) => until(server, holds),
  }
}

type Open = (options: SceneOptions) => Scene

export const SCENES: readonly [direct: [string, Open], remote: [string, Open]] = [
  ['direct', directScene],
  ['remote', remoteScene],
]

export const callsIn = (session: ChatSession): ToolMessage[] =>
  session.get().messages.filter((message): message is ToolMessage => message.role === 'tool')

/** How far each call has come, in a word. */
export const stages = (session: ChatSession): string[] =>
  callsIn(session).map(({ stage, status, isError }) => stage ?? (isError ? 'error' : status))

/** What the model reads of each call. */
export const resultsIn = (session: ChatSession): unknown[] =>
  callsIn(session).map(({ content }) => content[0]?.type === 'text' && JSON.parse(content[0].text))
