import { describe, expect, onTestFinished, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { outboxOf } from '../chat/direct-chat.ts'
import { type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { noStrayRejections } from '../chat/world.ts'
import type { ResponsesServer } from './responses-server.ts'
import { halfway, isDone, last, type Page, page, RECORDINGS, serve, until } from './resumed-page.ts'

noStrayRejections()

/** What is the same however often a page went: all but times, counters and ids that a page makes up. */
const telling = (messages: readonly Message[]) =>
  messages.map((message) => ({
    role: message.role,
    status: message.status,
    content: message.content,
    ...(message.role === 'assistant' && { responseId: message.responseId, stopReason: message.stopReason }),
  }))

async function finish(open: Page, server: ResponsesServer, from: number): Promise<void> {
  for (let question = from; question < RECORDINGS.length; question++) {
    await until(() => server.asked.filter((what) => what === 'POST /responses').length > question)
    server.writeTo(question, server.eventsOf(question))
  }
  await until(() => isDone(open))
  await open.world.pass(200)
}

/** What everything comes out as where no page goes. */
async function undisturbed() {
  const server = await serve()
  const open = page(server, watchedStorage(), 'calm')
  onTestFinished(() => open.chat.close())
  await halfway(open, server, 0, 1)
  await finish(open, server, 0)
  return telling(open.session.get().messages)
}

/** What the statuses of a message were, one after the other, as they were stored. */
const history = ({ commits }: WatchedStorage, id: string) =>
  commits
    .flatMap(({ changes }) =>
      changes.flatMap((change) =>
        change.type === 'message' && change.row.message.id === id ? [change.row.message.status] : [],
      ),
    )
    .filter((status, at, all) => status !== all[at - 1])

/** All that is written in a message, in its order. */
const textsOf = (message: Message | undefined): string =>
  (message?.role === 'assistant' ? message.content : [])
    .map((block) => (block.type === 'text' || block.type === 'thinking' ? block.text : ''))
    .join('')

/** The page goes after so many events of an answer; another one comes. */
async function crash(question: number, events: number, wanted: unknown) {
  const server = await serve()
  const storage = watchedStorage()
  const first = page(server, storage, 'first')
  await halfway(first, server, question, events)
  // What was not written yet is lost: that differs from one crash to the next.
  if (events % 2 === 0) await first.world.pass(150)
  first.go()
  const id = last(first)?.id ?? ''
  const kept = storage.reopen()
  const again = page(server, kept, 'again')
  await until(() => last(again)?.id === id && last(again)?.status === 'streaming')
  const shown = [textsOf(last(again))]
  again.session.message(id).subscribe(() => shown.push(textsOf(again.session.message(id).get())))
  await finish(again, server, question)
  expect(telling(again.session.get().messages), `after event ${events}`).toEqual(wanted)
  // What was seen only ever grows.
  for (const [at, texts] of shown.entries()) expect(texts.startsWith(shown[at - 1] ?? '')).toBe(true)
  expect(again.session.message(id).get()?.status).toBe('completed')
  expect(history(kept, id)).toEqual(['interrupted', 'streaming', 'completed'])
  expect(server.asked.filter((what) => what.startsWith('POST'))).toHaveLength(RECORDINGS.length)
  expect(server.asked.filter((what) => what.startsWith('GET'))).toEqual([
    `GET /responses/resp_${question}?stream=true`,
  ])
  expect(first.executed() + again.executed()).toBe(1)
  expect(await outboxOf(kept)).toEqual([])
  await again.chat.close()
}

describe('a page that goes in mid-answer, where the provider writes on', () => {
  test.each([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ])('goes on with the same message, of answer %i at every second event from %i', async (question, odd) => {
    const wanted = await undisturbed()
    const events = [105, 55][question] ?? 0
    for (let event = 1 + odd; event < events; event += 2) await crash(question, event, wanted)
  })
})
