import { createChat, direct, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { openai } from 'tidemark/openai'

/** What the page offers to the test that drives it. */
export interface ResumePage {
  ask(question: string): Promise<void>
  /** Each message as it is shown. */
  shown(): { id: string; status: string; text: string }[]
}

declare global {
  interface Window {
    resume: ResumePage
  }
}

const chat = createChat({
  storage: dexieStorage('resume'),
  runtime: direct({ model: openai('gpt-5.2', { baseURL: '/llm/openai', background: true }) }),
})
const session = chat.session('s')

window.resume = {
  async ask(question) {
    await session.send(question)
  },
  shown: () =>
    session
      .get()
      .messages.map((message) => ({ id: message.id, status: message.status, text: textOf(message) })),
}
