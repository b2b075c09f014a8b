import { onTestFinished } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { ChatStorage } from '../../src/chat/ports.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { type DirectOptions, direct } from '../../src/runtime/direct.ts'
import { type Script, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type WatchedStorage, watchedStorage } from './storages.ts'
import { createWorld, type World } from './world.ts'

export interface DirectChat {
  chat: Chat
  session: ChatSession
  model: ScriptedModel
  storage: WatchedStorage
  world: World
}

export interface DirectSetup extends Omit<DirectOptions, 'model'> {
  steps?: Script
  storage?: WatchedStorage
  world?: World
  chunkSize?: number
}

/** A model that repeats what it was told last. */
export const echo: Script = (context) => {
  const said = context.messages.at(-1)
  return `re: ${said ? textOf(said) : ''}`
}

/** A chat with a scripted model, over a storage that can be looked into. Closed when the test is over. */
export function directChat(setup: DirectSetup = {}): DirectChat {
  const { steps = echo, storage = watchedStorage(), world = createWorld(), chunkSize, ...options } = setup
  const model = scriptedModel(steps, chunkSize === undefined ? {} : { chunkSize })
  const chat = createChat({ storage, env: world.env, runtime: direct({ model, ...options }) })
  onTestFinished(() => chat.close())
  return { chat, session: chat.session('s'), model, storage, world }
}

/** A chat whose model never answers: what it shows is what is stored. */
export const lookInto = (storage: WatchedStorage): DirectChat =>
  directChat({
    storage: storage.reopen(),
    steps: () => [{ stall: true }],
    world: createWorld({ name: 'look' }),
  })

export const shown = (messages: readonly Message[]): string[] => messages.map((message) => textOf(message))

export const statuses = (messages: readonly Message[]): string[] =>
  messages.map(({ role, status }) => `${role} ${status}`)

/** How a promise ends: its value, or the code of its error. */
export async function ending(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise
  } catch (thrown) {
    return typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : thrown
  }
}

/** What a storage holds of a session, without what is of no interest here. */
export async function outboxOf(storage: ChatStorage, id = 's') {
  return (await storage.window(id, { limit: 1 })).outbox
}
