import { describe, expect, test } from 'vitest'
import { createHold } from '../../src/testing/scripted-model.ts'
import { directChat, ending, outboxOf, shown, statuses } from './direct-chat.ts'
import { expectStored } from './storages.ts'
import { idle, noStrayRejections } from './world.ts'

noStrayRejections()

describe('stop', () => {
  test('keeps what was said, and shows nothing that comes after it', async () => {
    let say = () => {}
    const steps = [['half an ', { hold: new Promise<void>((resolve) => (say = resolve)) }, 'answer']] as const
    const { session, chat, storage, world } = directChat({ steps })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('half an '))
    const id = session.get().messages[1]?.id ?? ''
    const appended: string[] = []
    session.message(id).onAppend(({ text }) => appended.push(text))
    await session.stop()
    say()
    expect(await answer).toMatchObject({ status: 'interrupted', stopReason: 'aborted' })
    await idle()
    expect(shown(session.get().messages)).toEqual(['one', 'half an '])
    expect(statuses(session.get().messages)).toEqual(['user completed', 'assistant interrupted'])
    expect(session.get().status).toBe('ready')
    expect(appended).toEqual([])
    expect(await outboxOf(storage)).toEqual([])
    await expectStored(chat, session, storage)
  })

  test('shows nothing of a model that does not listen', async () => {
    const hold = createHold()
    const { session, chat, storage, world } = directChat({
      steps: [
        ['before ', hold, 'after'],
        ['next ', 'answer'],
      ],
    })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('before '))
    const seen: string[] = []
    session.subscribe(() => seen.push(shown(session.get().messages).join('|')))
    await session.stop()
    hold.release()
    await answer
    expect(shown([await (await session.send('two')).answer])).toEqual(['next answer'])
    expect(seen.filter((text) => text.includes('after'))).toEqual([])
    await idle()
    await expectStored(chat, session, storage)
  })

  test('of a question that waits for its turn lets it stand unanswered', async () => {
    const hold = createHold()
    const { session, model, storage, chat, world } = directChat({ steps: [['first', hold], 'second'] })
    const one = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('first'))
    const two = await session.send('two')
    await session.stop()
    expect(await ending(one.answer)).toMatchObject({ status: 'interrupted' })
    expect(await ending(two.answer)).toBe('aborted')
    await idle()
    expect(shown(session.get().messages)).toEqual(['one', 'first', 'two'])
    expect(model.calls.length).toBe(1)
    const three = await session.send('three')
    expect(shown([await three.answer])).toEqual(['second'])
    await idle()
    await expectStored(chat, session, storage)
  })

  test('of a question that was only just asked, in any moment, ends it', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { session, chat, storage } = directChat({ steps: ['quick', 'again'] })
      const sent = await session.send('one')
      await idle(turns)
      await session.stop()
      const ended = await ending(sent.answer)
      if (ended !== 'aborted') expect(ended).toMatchObject({ role: 'assistant' })
      await idle()
      expect(session.get().status).toBe('ready')
      expect(shown([await (await session.send('two')).answer])[0]).toMatch(/quick|again/)
      await idle()
      expect(await outboxOf(storage)).toEqual([])
      await expectStored(chat, session, storage)
    }
  })

  test.each(['right after it was sent', 'while what is stored is still being read'])(
    'ends what was asked in the same breath: %s',
    async (when) => {
      const { session, chat, storage, model, world } = directChat({
        steps: [['quick', { stall: true }], 'again'],
      })
      if (when.startsWith('right')) await world.until(() => session.get().status === 'ready')
      const sent = session.send('one')
      await session.stop()
      expect(await ending((await sent).answer)).toBe('aborted')
      await idle()
      expect(session.get().status).toBe('ready')
      const retried = session.retry(session.get().messages[0]?.id ?? '')
      await session.stop()
      expect(await ending((await retried).answer)).toBe('aborted')
      await idle()
      expect(model.calls).toEqual([])
      await expectStored(chat, session, storage)
    },
  )

  test('twice is once', async () => {
    const { session, storage, world } = directChat({ steps: [['half', { stall: true }]] })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('half'))
    await Promise.all([session.stop(), session.stop(), session.stop()])
    await session.stop()
    expect(await answer).toMatchObject({ status: 'interrupted' })
    await idle()
    const cancels = storage.commits.flatMap(({ changes }) =>
      changes.flatMap((change) =>
        change.type === 'outbox' && change.row.request.type === 'command' ? [change.row.id] : [],
      ),
    )
    expect(new Set(cancels).size).toBe(1)
  })

  test('with nothing to stop does nothing', async () => {
    const { session, storage, world } = directChat()
    await world.until(() => session.get().status === 'ready')
    await session.stop()
    expect(storage.commits).toEqual([])
    await (await session.send('one')).answer
    await idle()
    const before = storage.commits.length
    await session.stop()
    await idle()
    expect(storage.commits.length).toBe(before)
  })
})
