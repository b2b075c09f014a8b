import { useChat } from '@ai-sdk/react'
import { ChatClient, fetchServerSentEvents, indexedDBPersistence } from '@tanstack/ai-client'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createChat, type Message, remote, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import type { Client, Open, View } from './story.ts'

const openTidemark: Open = async ({ url, chatId }) => {
  const chat = createChat({ runtime: remote({ url }), storage: dexieStorage('compare') })
  const session = chat.session(chatId)
  let failed = false
  const stateOf = (answer: Message | undefined): View['state'] => {
    if (answer?.status === 'completed') return 'done'
    return failed || answer?.status === 'failed' || answer?.status === 'interrupted' ? 'failed' : 'busy'
  }
  return {
    send(text) {
      session
        .send(text)
        .then(({ answer }) => answer)
        .catch(() => {
          failed = true
        })
    },
    view() {
      const { messages } = session.get()
      const answers = messages.filter(({ role }) => role === 'assistant')
      const newest = answers.at(-1)
      return {
        questions: messages.filter(({ role }) => role === 'user').length,
        answers: answers.length,
        text: newest ? textOf(newest) : '',
        state: stateOf(newest),
      }
    },
    retry() {
      const newest = session.get().messages.at(-1)
      if (newest) session.retry(newest.id).catch(() => undefined)
    },
  }
}

/** The text of an answer in either library's shape. */
const textIn = (parts: readonly { type: string; text?: string; content?: unknown }[] = []): string =>
  parts.flatMap(({ type, text, content }) => (type === 'text' ? [String(text ?? content)] : [])).join('')

function viewOf(
  messages: readonly { role: string; parts: readonly { type: string; text?: string; content?: unknown }[] }[],
  state: View['state'],
): View {
  const answers = messages.filter(({ role }) => role === 'assistant')
  const questions = messages.filter(({ role }) => role === 'user').length
  return { questions, answers: answers.length, text: textIn(answers.at(-1)?.parts), state }
}

interface ChatOfAiSdk {
  url: string
  chatId: string
  stored: UIMessage[]
  /** Told after every render of what the chat is now. */
  rendered: (client: Client) => void
}

function AiSdkChat({ url, chatId, stored, rendered }: ChatOfAiSdk) {
  const [transport] = useState(
    () =>
      new DefaultChatTransport({
        api: url,
        prepareSendMessagesRequest: ({ messages }) => ({ body: { message: messages.at(-1) } }),
        prepareReconnectToStreamRequest: () => ({ api: `${url}/stream` }),
      }),
  )
  const chat = useChat({ id: chatId, messages: stored, resume: true, transport })
  const state = chat.status === 'error' ? 'failed' : chat.status === 'ready' ? 'done' : 'busy'
  useEffect(() =>
    rendered({
      send: (text) => void chat.sendMessage({ text }),
      view: () => viewOf(chat.messages, state),
      retry: () => void chat.regenerate(),
    }),
  )
  return null
}

/** By the guide "Chatbot Resume Streams": what the server has stored, then `useChat` with `resume`. */
const openAiSdk: Open = async ({ url, chatId }) => {
  const stored: UIMessage[] = await (await fetch(url)).json()
  const root = document.getElementById('root')
  if (!root) throw new Error('a page without a root')
  let newest: Client | undefined
  await new Promise<void>((resolve) => {
    const rendered = (client: Client) => {
      newest = client
      resolve()
    }
    createRoot(root).render(<AiSdkChat url={url} chatId={chatId} stored={stored} rendered={rendered} />)
  })
  return {
    send: (text) => newest?.send(text),
    view: () => newest?.view() ?? viewOf([], 'busy'),
    retry: () => newest?.retry(),
  }
}

/** With its durable streams and its own persistence in IndexedDB. */
const openTanstack: Open = async ({ url, chatId }) => {
  const client = new ChatClient({
    threadId: chatId,
    connection: fetchServerSentEvents(url),
    persistence: indexedDBPersistence(),
  })
  client.attach()
  const stateOf = (): View['state'] => {
    const status = client.getStatus()
    return status === 'error' ? 'failed' : status === 'ready' ? 'done' : 'busy'
  }
  return {
    send: (text) => void client.sendMessage(text).catch(() => undefined),
    view: () => viewOf(client.getMessages(), stateOf()),
    retry: () => void client.reload().catch(() => undefined),
  }
}

Object.assign(globalThis, { open_: { tidemark: openTidemark, 'ai-sdk': openAiSdk, tanstack: openTanstack } })
