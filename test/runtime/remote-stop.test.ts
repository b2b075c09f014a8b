import { describe, expect, test } from 'vitest'
import { ending, outboxOf, shown, statuses } from '../chat/direct-chat.ts'
import { expectStored } from '../chat/storages.ts'
import { noStrayRejections } from '../chat/world.ts'
import { isEvents, remoteChat, requestsTo } from './remote-chat.ts'
import { cut } from './scripted-server.ts'

noStrayRejections()

const hold = () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  return { held, release: () => release() }
}

describe('stop', () => {
  test('ends a run at the server, and shows nothing that comes after it', async () => {
    const { held, release } = hold()
    const { session, server, chat, storage, world } = remoteChat({ answer: () => ['before ', held, 'after'] })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'before ')
    const seen: string[] = []
    session.subscribe(() => seen.push(shown(session.get().messages).join()))
    await session.stop()
    release()
    expect(await ending(answer)).toMatchObject({ status: 'interrupted' })
    await world.pass(500)
    expect(shown(session.get().messages)).toEqual(['one', 'before '])
    expect(seen.filter((text) => text.includes('after'))).toEqual([])
    expect(requestsTo(server, 'POST /sessions/s/commands').length).toBe(1)
    await expectStored(chat, session, storage)
  })

  test('ends a run that was accepted, and of which nothing was told yet', async () => {
    const [told, said] = [hold(), hold()]
    const { session, server, chat, storage, world } = remoteChat({
      answer: () => ['before', said.held, 'after'],
    })
    server.spoil = (response) => {
      if (!isEvents(response) || !response.body) return response
      const late = new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, controller) {
          await told.held
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body.pipeThrough(late), response)
    }
    await session.send('one')
    await world.until(() => chat.health.get().outbox === 0)
    expect(shown(session.get().messages)).toEqual(['one'])
    await session.stop()
    await world.until(() => requestsTo(server, 'POST /sessions/s/commands').length === 1)
    told.release()
    said.release()
    await world.pass(1_000)
    expect(statuses(session.get().messages)).toEqual(['user completed', 'assistant interrupted'])
    await expectStored(chat, session, storage)
  })

  test('shows what a server that was faster has to say', async () => {
    const { held, release } = hold()
    const { session, server, world } = remoteChat({ answer: () => ['before ', held, 'after'] })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'before ')
    let cancelled = () => {}
    const first = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    server.instead = async ({ path }) => {
      if (path.endsWith('/commands')) await first
      return undefined
    }
    const appended: string[] = []
    session.message(session.get().messages[1]?.id ?? '').onAppend(({ text }) => appended.push(text))
    await session.stop()
    release()
    expect(await answer).toMatchObject({ status: 'completed' })
    expect(appended).toEqual([])
    expect(shown(session.get().messages)).toEqual(['one', 'before after'])
    cancelled()
  })

  test('offline is told when the line is back', async () => {
    const { held, release } = hold()
    const { session, server, storage, world } = remoteChat({ answer: () => ['before ', held, 'after'] })
    await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'before ')
    server.online = false
    cut(server)
    await world.pass(1_000)
    await session.stop()
    await session.stop()
    await world.pass(10_000)
    expect((await outboxOf(storage)).length).toBe(1)
    server.online = true
    await world.until(() => session.get().messages.at(-1)?.status === 'interrupted')
    expect(shown(session.get().messages)).toEqual(['one', 'before '])
    release()
    await world.pass(1_000)
    expect(await outboxOf(storage)).toEqual([])
  })

  test('of what is not sent yet sends it, and asks for no answer', async () => {
    const { session, server, chat, world } = remoteChat()
    server.online = false
    const one = await session.send('one')
    await session.stop()
    server.online = true
    expect(await ending(one.answer)).toBe('aborted')
    await world.pass(40_000)
    expect(shown(session.get().messages)).toEqual(['one'])
    expect(session.get().status).toBe('ready')
    expect(chat.health.get().outbox).toBe(0)
  })
})

test('close hangs up on an answer that comes back on its request, though nothing comes', async () => {
  const { held } = hold()
  const { session, server, chat, world } = remoteChat({
    feed: false,
    answer: () => ['before ', held, 'after'],
  })
  await session.send('one')
  await world.until(() => shown(session.get().messages).at(-1) === 'before ')
  expect(server.streams.size).toBe(1)
  await chat.close()
  expect(server.streams.size).toBe(0)
  expect(world.sleeping()).toBe(0)
})
