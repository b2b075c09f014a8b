import type { Message, Model } from 'tidemark'
import { createChat, direct, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { openaiChat } from 'tidemark/openai-chat'

/** What the page offers to the test that drives it. */
export interface RealInputPage {
  /** Asks once for each name, several at a time; resolves when every answer is settled and written. */
  ask(names: readonly string[]): Promise<void>
  /** The answers as IndexedDB has them, by the name that was asked for. */
  stored(names: readonly string[]): Promise<Record<string, Message | undefined>>
}

declare global {
  interface Window {
    realInput: RealInputPage
  }
}

const DATABASE = 'real-input'
const sessionOf = (name: string): string => `s_${name.replaceAll(/[^A-Za-z0-9]/g, '_').slice(-60)}`

/** Asks the model that the last question names. */
const named: Model = {
  provider: 'openai',
  id: 'named',
  stream(context, options) {
    const question = context.messages.findLast(({ role }) => role === 'user')
    const model = openaiChat(question ? textOf(question) : '', { baseURL: '/llm/openai' })
    return model.stream(context, options)
  },
}

async function ask(names: readonly string[]): Promise<void> {
  const chat = createChat({ storage: dexieStorage(DATABASE), runtime: direct({ model: named, maxSteps: 1 }) })
  const waiting = [...names]
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const session = chat.session(sessionOf(name))
      const { answer } = await session.send(name)
      await answer
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  await chat.close()
}

async function stored(names: readonly string[]): Promise<Record<string, Message | undefined>> {
  const storage = dexieStorage(DATABASE)
  const answers: Record<string, Message | undefined> = {}
  for (const name of names) {
    const { rows } = await storage.window(sessionOf(name), { limit: 10 })
    answers[name] = rows.map(({ message }) => message).find(({ role }) => role === 'assistant')
  }
  await storage.close()
  return answers
}

window.realInput = { ask, stored }
