import { describe, expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { likeBrowser } from '../chat/browser-tabs.ts'
import { outboxOf } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { idle, noStrayRejections } from '../chat/world.ts'
import { halfway, isDone, last, page, RECORDINGS, serve, until } from './resumed-page.ts'

noStrayRejections()

/** A text, twice: the second is the answer to another question. */
const [, TEXT = ''] = RECORDINGS
const END = 55

/** A page that went when its answer was half written. */
async function half(storage = watchedStorage()) {
  const server = await serve([TEXT, TEXT])
  const first = page(server, storage, 'first')
  await halfway(first, server, 0, 30)
  await first.world.pass(150)
  const id = last(first)?.id ?? ''
  const text = textOf(first.session.get().messages.at(-1) ?? { content: [] })
  const comeBack = (name = 'again') => {
    const again = page(server, storage.reopen(), name)
    onTestFinished(() => again.chat.close())
    return again
  }
  return { server, storage, first, id, text, comeBack }
}

type Back = ReturnType<Awaited<ReturnType<typeof half>>['comeBack']>

const gets = ({ asked }: { asked: readonly string[] }) =>
  asked.filter((what) => what.startsWith('GET')).length
const answer = ({ session }: Back, id: string) => session.message(id).get()
const isInterrupted = (open: Back, id: string) => answer(open, id)?.status === 'interrupted'

describe('an answer that the page was cut off from', () => {
  test('and that the provider no longer has stays as it is, and holds up nothing', async () => {
    const { server, first, id, text, comeBack } = await half()
    first.go()
    server.forget()
    const again = comeBack()
    await until(() => again.chat.health.get().lastError?.code === 'not-found')
    expect(answer(again, id)).toMatchObject({ status: 'interrupted' })
    expect(textOf(answer(again, id) ?? { content: [] })).toBe(text)
    expect(again.chat.health.get().outbox).toBe(0)
    await again.session.send('And tomorrow?')
    await until(() => server.asked.at(-1) === 'POST /responses')
    server.writeTo(1, END)
    await until(() => isDone(again))
    expect(answer(again, id)?.status).toBe('interrupted')
  })

  test('is gone on with once the line is back, and what was said meanwhile waits for it', async () => {
    const { server, first, id, text, comeBack } = await half()
    first.go()
    const again = comeBack()
    again.unplug()
    await until(() => isInterrupted(again, id))
    await again.session.send('And tomorrow?')
    await again.world.pass(2_000)
    expect(textOf(answer(again, id) ?? { content: [] })).toBe(text)
    expect([gets(server), again.chat.health.get().outbox]).toEqual([0, 2])
    again.unplug(false)
    await again.world.pass(31_000)
    await until(() => gets(server) === 1)
    server.writeTo(0, END)
    await until(() => answer(again, id)?.status === 'completed')
    await until(() => server.asked.filter((what) => what === 'POST /responses').length === 2)
    server.writeTo(1, END)
    await until(() => isDone(again))
    expect(again.session.get().messages.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  })

  test('and that can never be heard holds up what is said after it for a while, and not for ever', async () => {
    const { server, first, id, text, comeBack } = await half()
    first.go()
    const again = comeBack()
    again.unplug()
    await until(() => isInterrupted(again, id))
    await again.world.until(() => again.chat.health.get().outbox === 0)
    expect(again.chat.health.get().lastError).toMatchObject({ code: 'not-found' })
    expect(textOf(answer(again, id) ?? { content: [] })).toBe(text)
    expect(gets(server)).toBe(0)
  })

  test('and that is stopped while it cannot be reached is not gone on with', async () => {
    const { server, first, id, comeBack } = await half()
    first.go()
    const again = comeBack()
    again.unplug()
    await until(() => isInterrupted(again, id))
    await again.session.stop()
    again.unplug(false)
    await again.world.pass(60_000)
    expect([gets(server), again.chat.health.get().outbox]).toEqual([0, 0])
    expect(answer(again, id)?.status).toBe('interrupted')
  })

  test('is gone on with although the page goes again: before it was reached, and while it is heard again', async () => {
    const { server, storage, first, id, comeBack } = await half()
    first.go()
    const second = comeBack('second')
    second.unplug()
    await until(() => isInterrupted(second, id))
    await second.world.pass(150)
    second.go()
    const third = comeBack('third')
    await third.world.pass(2_000)
    await until(() => answer(third, id)?.status === 'streaming')
    await third.world.pass(150)
    third.go()
    const fourth = comeBack('fourth')
    await until(() => answer(fourth, id)?.status === 'streaming' && gets(server) === 2)
    server.writeTo(0, END)
    await until(() => isDone(fourth))
    await fourth.world.pass(150)
    expect(await outboxOf(storage.reopen())).toEqual([])
    expect(server.asked.filter((what) => what === 'POST /responses')).toHaveLength(1)
  })

  test('is gone on with also where the page closed its chat, which stops nothing at the provider', async () => {
    const { server, storage, first, id, comeBack } = await half()
    await first.chat.close()
    const { rows } = await storage.reopen().window('s', { limit: 9 })
    expect(rows.at(-1)?.message).toMatchObject({ id, status: 'streaming', responseId: 'resp_0' })
    const again = comeBack()
    await until(() => answer(again, id)?.status === 'streaming' && gets(server) === 1)
    server.writeTo(0, END)
    await until(() => isDone(again))
    expect(server.asked).toEqual(['POST /responses', 'GET /responses/resp_0?stream=true'])
  })

  test('is gone on with by one of two tabs: the one that has the lock', async () => {
    const { server, first, id, comeBack } = await half(watchedStorage(memoryStorage(), likeBrowser()))
    const [second, third] = [comeBack('second'), comeBack('third')]
    await idle()
    expect(gets(server)).toBe(0)
    first.go()
    // Nothing of it is stored or said any more; only its lock is free.
    await first.chat.close()
    await until(() => [second, third].some((tab) => answer(tab, id)?.status === 'streaming'))
    server.writeTo(0, END)
    await until(() => isDone(second))
    await second.world.pass(150)
    await until(() => isDone(third))
    expect(gets(server)).toBe(1)
    expect(third.session.get().messages).toEqual(second.session.get().messages)
  })
})
