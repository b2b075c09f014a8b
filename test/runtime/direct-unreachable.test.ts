import { describe, expect, onTestFinished, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import { openaiChat } from '../../src/openai-chat.ts'
import { direct } from '../../src/runtime/direct.ts'
import { outboxOf, shown } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { piece } from './model-stage.ts'

noStrayRejections()

const yes = () => new Response(`${piece('yes', 'stop')}data: [DONE]\n\n`)
const unreachable = (): Response => {
  throw new TypeError('Failed to fetch')
}
const refusal =
  (status: number, headers = {}) =>
  () =>
    new Response('{"error":{"message":"no"}}', { status, headers })

/** A chat whose provider answers each request by the next of these, and by the last one from then on. */
function ask(...answers: (() => Response)[]) {
  const world = createWorld()
  const storage = watchedStorage()
  let requests = 0
  const fetch: typeof globalThis.fetch = async () => {
    const answer = answers[Math.min(requests++, answers.length - 1)] ?? yes
    return answer()
  }
  const model = openaiChat('m', { baseURL: 'http://proxy.test', fetch, env: world.env })
  const chat = createChat({ storage, env: world.env, runtime: direct({ model }) })
  onTestFinished(() => chat.close())
  return { chat, session: chat.session('s'), world, storage, requests: () => requests }
}

describe('a question to a provider', () => {
  test('that cannot be reached waits in the outbox until it can, and is answered once', async () => {
    const down = Array<() => Response>(12).fill(unreachable)
    const { chat, session, world, storage, requests } = ask(...down, yes)
    const { answer } = await session.send('here?')
    await world.pass(1_000)
    expect(session.get()).toMatchObject({
      connection: 'reconnecting',
      messages: [{ status: 'pending' }, { status: 'pending' }],
    })
    expect(await outboxOf(storage)).toHaveLength(1)
    expect(shown([await world.ended(answer)])).toEqual(['yes'])
    expect(requests()).toBe(13)
    expect(session.get()).toMatchObject({
      connection: 'online',
      messages: [{ status: 'completed' }, { status: 'completed' }],
    })
    expect(chat.health.get().outbox).toBe(0)
  })

  test('that cannot be reached is sent by the page that comes back', async () => {
    const { session, world, storage } = ask(unreachable)
    const { id } = await session.send('here?')
    await world.pass(60_000)
    const again = createWorld({ name: 'again', from: world.env.now() })
    const model = openaiChat('m', { baseURL: 'http://proxy.test', fetch: async () => yes(), env: again.env })
    const chat = createChat({ storage: storage.reopen(), env: again.env, runtime: direct({ model }) })
    onTestFinished(() => chat.close())
    const back = chat.session('s')
    await again.until(() => back.get().messages.at(-1)?.status === 'completed')
    expect(shown(back.get().messages)).toEqual(['here?', 'yes'])
    expect(back.get().messages[0]?.id).toBe(id)
  })

  const lost = () => new Response('', { headers: { 'content-type': 'text/event-stream' } })
  test.each([
    ['says no: it fails at once', refusal(401), 'auth', 1],
    ['is overloaded: it fails after three tries', refusal(503), 'server', 3],
    [
      'wants it later than anybody would wait: it fails',
      refusal(429, { 'retry-after': '3600' }),
      'rate-limit',
      1,
    ],
    ['answers with nothing: it fails after three tries', lost, 'network', 3],
  ])('that %s', async (_, answer, code, tries) => {
    const { session, world, requests, storage } = ask(answer)
    const sent = await session.send('here?')
    expect(await world.ended(sent.answer)).toMatchObject({ status: 'failed', error: { code } })
    expect(requests()).toBe(tries)
    expect(session.message(sent.id).get()?.status).toBe('completed')
    await world.pass(60_000)
    expect(requests()).toBe(tries)
    expect(await outboxOf(storage)).toEqual([])
  })

  test('that wants it a little later is asked then', async () => {
    const { session, world, requests } = ask(refusal(429, { 'retry-after': '7' }), yes)
    const { answer } = await session.send('here?')
    await world.pass(6_999)
    expect(requests()).toBe(1)
    expect(shown([await world.ended(answer)])).toEqual(['yes'])
  })
})
