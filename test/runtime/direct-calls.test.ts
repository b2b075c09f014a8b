import { describe, expect, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { ChatStorage } from '../../src/chat/ports.ts'
import type { Usage } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { type DirectOptions, direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { createHold, type Script, scriptedModel } from '../../src/testing/scripted-model.ts'
import { watchedStorage } from '../chat/storages.ts'

const usage: Usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, total: 11 }

interface Setup extends Omit<DirectOptions, 'model'> {
  steps?: Script
  storage?: ChatStorage
  now?: () => number
}

function chatWith({
  steps = () => ['x', { usage }],
  storage = memoryStorage(),
  now,
  ...options
}: Setup = {}) {
  const model = scriptedModel(steps)
  const runtime = direct({ model, ...options })
  const chat = createChat({ storage, runtime, ...(now && { env: { now } }) })
  return { chat, storage, session: chat.session('s1') }
}

/** Resolves when the newest message says so. */
const shows = ({ session }: ReturnType<typeof chatWith>, text: string) =>
  new Promise<void>((resolve) => {
    const stop = session.subscribe(() => {
      const last = session.get().messages.at(-1)
      if (!last || textOf(last) !== text) return
      stop()
      resolve()
    })
  })

/** Asks so many questions, one after the other. */
async function ask({ session }: ReturnType<typeof chatWith>, times: number) {
  for (let n = 0; n < times; n++) await (await session.send(`question ${n}`)).answer
}

describe('session.calls()', () => {
  test('says of each model call what was sent and what came back, the newest last', async () => {
    const world = chatWith()
    expect(await world.session.calls()).toEqual([])
    await ask(world, 2)
    const [u0, a0, u1, a1] = world.session.get().messages.map(({ id }) => id)
    const calls = await world.session.calls()
    expect(calls).toMatchObject([
      { messageId: a0, sent: { included: [{ id: u0 }] }, usage, status: 'completed' },
      { messageId: a1, sent: { included: [{ id: u0 }, { id: a0 }, { id: u1 }] }, usage },
    ])
    await world.chat.close()
  })

  test('knows them after a reload, also the last before it', async () => {
    const storage = watchedStorage()
    const first = chatWith({ storage })
    await ask(first, 1)
    await first.chat.close()
    const again = chatWith({ storage: storage.reopen() })
    expect(await again.session.calls()).toHaveLength(1)
    await again.chat.close()
  })

  test('keeps the newest, and no more than it is told, over several openings and a clock that was put back', async () => {
    let now = 9_000
    const storage = watchedStorage()
    const first = chatWith({ storage, keepCalls: 3, now: () => now++ })
    await ask(first, 2)
    await first.chat.close()
    now = 1_000
    const again = chatWith({ storage: storage.reopen(), keepCalls: 3, now: () => now++ })
    await ask(again, 2)
    const answers = again.session.get().messages.filter(({ role }) => role === 'assistant')
    const calls = await again.session.calls()
    expect(calls.map(({ messageId }) => messageId)).toEqual(answers.slice(-3).map(({ id }) => id))
    await again.chat.close()
  })

  test('keeps none where it is told so', async () => {
    const world = chatWith({ keepCalls: 0 })
    await ask(world, 1)
    expect(await world.session.calls()).toEqual([])
    await world.chat.close()
  })

  test('leaves nothing of a session that was deleted in mid-call', async () => {
    const { hold, release } = createHold()
    const storage = watchedStorage()
    const world = chatWith({ storage, steps: () => ['x', { hold }, 'y'] })
    const { answer } = await world.session.send('Hello')
    answer.catch(() => undefined)
    await shows(world, 'x')
    await world.session.delete()
    release()
    await world.chat.close()
    expect(await storage.reopen().records('call')).toEqual([])
  })

  test('is not what an answer waits for, nor what it fails by', async () => {
    const storage = watchedStorage()
    const world = chatWith({ storage })
    storage.fail((_, operation) => operation === 'records')
    await ask(world, 1)
    expect(world.session.get().messages.at(-1)).toMatchObject({ status: 'completed' })
    await world.chat.close()
  })

  test('leaves out what it cannot read', async () => {
    const world = chatWith()
    await ask(world, 1)
    const record = { kind: 'call', key: 's1:torn', sessionId: 's1', value: { half: true } }
    await world.storage.commit([{ type: 'record', record }])
    expect(await world.session.calls()).toHaveLength(1)
    await world.chat.close()
  })

  test('names the trace that the app gave', async () => {
    const own = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const world = chatWith({ traceparent: () => own })
    await ask(world, 1)
    expect(await world.session.calls()).toMatchObject([{ traceId: '0af7651916cd43dd8448eb211c80319c' }])
    await world.chat.close()
  })
})
