import { type Chat, type ChatSession, createChat, remote, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { clockOf, isSettled, watchAnswers } from './page-parts.ts'

export interface Returned {
  /** Whether it was kept as it was, in the back-forward cache. */
  persisted: boolean
  /** Milliseconds, by the browser's own clock, until everything was shown. */
  took?: number
}

/** What the page offers to the test that drives it. */
export interface StagePage {
  readonly chat: Chat
  readonly session: ChatSession
  /** The number of the last event that came. */
  heard: number
  /** What must never be seen, and was. */
  readonly wrong: string[]
  /** Sent with each request, as `headers` says. */
  token: string | undefined
  /** How the page came back, once `expectReturn` was told to look out for that. */
  returned: Returned | undefined
  /** Notes when the page comes back by that event, and when it then shows so many messages, all of them settled. */
  expectReturn(type: 'pageshow' | 'visibilitychange', messages: number): void
  /** Each message as it is shown. */
  shown(): { id: string; role: string; status: string; text: string }[]
  /** The text of the newest message. */
  last(): string
}

declare global {
  interface Window {
    stage: StagePage
    /** Left by who gives the page another clock. */
    realNow?: () => number
  }
}

const asked = new URLSearchParams(location.search)
/** The browser's own clock, whatever clock the page was given. */
const realNow = window.realNow ?? (() => performance.now())
/** How many times as fast as the world the chat's own clock goes. */
const speed = Number(asked.get('speed') ?? 1)

/** The platform's, except that it notes which events came. */
const listening: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!response.headers.get('content-type')?.includes('event-stream') || !response.body) return response
  const decoder = new TextDecoder()
  let rest = ''
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) stage.heard = Number(/^id: (\d+)/.exec(line)?.[1] ?? stage.heard)
    },
  })
  return new Response(response.body.pipeThrough(through), response)
}

const chat = createChat({
  storage: dexieStorage('stage'),
  runtime: remote({
    url: '/api',
    async headers(): Promise<Record<string, string>> {
      const { token } = stage
      return token === undefined ? {} : { authorization: `Bearer ${token}` }
    },
    ...(asked.has('listen') && { fetch: listening }),
  }),
  ...(speed !== 1 && { env: clockOf(speed) }),
})
const session = chat.session(asked.get('session') ?? 's')

const stage: StagePage = {
  chat,
  session,
  heard: 0,
  wrong: [],
  token: undefined,
  returned: undefined,
  expectReturn(type, messages) {
    const target = type === 'pageshow' ? window : document
    target.addEventListener(type, (event) => {
      if (type === 'visibilitychange' && document.visibilityState === 'hidden') return
      const returned: Returned = { persisted: event instanceof PageTransitionEvent && event.persisted }
      const began = realNow()
      stage.returned = returned
      const check = () => {
        const all = session.get().messages
        if (all.length !== messages || !all.every(isSettled)) return
        returned.took ??= realNow() - began
      }
      session.subscribe(check)
      check()
    })
  },
  shown: () =>
    session.get().messages.map((message) => ({
      id: message.id,
      role: message.role,
      status: message.status,
      text: textOf(message),
    })),
  last: () => stage.shown().at(-1)?.text ?? '',
}

watchAnswers(session, stage.wrong)
window.stage = stage
