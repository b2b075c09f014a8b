import { describe, expect, test } from 'vitest'
import { type Core, newCore, update } from '../../src/chat/core.ts'
import { hearTold, type Told, toldOf } from '../../src/chat/grown.ts'
import { messageStore } from '../../src/chat/message-store.ts'
import { platformEnv } from '../../src/lib/env.ts'
import { textOf } from '../../src/message/text.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduceAll } from '../../src/protocol/reduce.ts'
import { messageOf, newTrace } from '../../src/protocol/state.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { createHold } from '../../src/testing/scripted-model.ts'
import { assistantMessage } from '../support/messages.ts'
import { likeBrowser } from './browser-tabs.ts'
import { directChat } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

const answer = assistantMessage('a', '', { status: 'pending', content: [], rev: 1, seq: 1, sessionId: 's' })
const begun: ChatEvent[] = [
  { type: 'message.created', message: answer },
  { type: 'message.started', id: 'a', runId: 'r', rev: 2 },
]

/** A tab that knows so many events, what it has appended, and what it wants to write. */
function tab(events: readonly ChatEvent[]) {
  const origins: string[] = []
  const appended: string[] = []
  const core = newCore('s', {
    env: platformEnv,
    schedule: () => {},
    onChange: (_, __, origin) => origins.push(origin),
    onOutbox: () => {},
    onFields: () => {},
  })
  update(core, (state, trace) => reduceAll(state, numbered(events), 0, trace), 'stored')
  messageStore(core, 'a').onAppend(({ text }) => appended.push(text))
  return { core, origins, appended }
}

const numbered = (events: readonly ChatEvent[], from = 1) =>
  events.map((event, at) => ({ id: { n: from + at, tag: 't' }, event }))

/** Hears deltas, and says what other tabs are told of them. */
function hear(core: Core, events: readonly ChatEvent[], from: number): Told[] {
  const trace = newTrace()
  core.state = reduceAll(core.state, numbered(events, from), 0, trace)
  return toldOf(core.state, trace.pieces)
}

const delta = (text: string, offset: number, index = 0): ChatEvent => ({
  type: 'message.delta',
  id: 'a',
  index,
  delta: text,
  offset,
})

const textIn = ({ state }: Core) => {
  const message = messageOf(state, 'a')
  return message && textOf(message)
}

describe('what another tab hears', () => {
  test('is appended here at once, and written by the other alone', () => {
    const { core, origins, appended } = tab(begun)
    const leader = tab(begun)
    hearTold({ core, leading: false }, hear(leader.core, [delta('One, ', 0)], 3))
    hearTold({ core, leading: false }, hear(leader.core, [delta('two, ', 5), delta('three.', 10)], 4))
    expect(appended).toEqual(['One, ', 'two, three.'])
    expect(messageOf(core.state, 'a')).toEqual(messageOf(leader.core.state, 'a'))
    expect(new Set(origins)).toEqual(new Set(['stored']))
  })

  test('is shown once, though its events are heard here as well', () => {
    const { core } = tab(begun)
    const events = [delta('One, ', 0), delta('two.', 5)]
    hearTold({ core, leading: false }, hear(tab(begun).core, events, 3))
    update(core, (state, trace) => reduceAll(state, numbered(events, 3), 0, trace))
    expect(textIn(core)).toBe('One, two.')
    expect(core.state.cursor?.n).toBe(4)
  })

  test('opens blocks of every kind', () => {
    const block = { type: 'thinking' as const, text: '' }
    const { core } = tab(begun)
    const leader = tab(begun)
    const thought: ChatEvent = { type: 'message.delta', id: 'a', index: 0, block, delta: 'hm', offset: 0 }
    hearTold({ core, leading: false }, hear(leader.core, [thought, delta('Yes.', 0, 1)], 3))
    expect(messageOf(core.state, 'a')?.content).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  test.each<[string, unknown]>([
    ['follows something that is not known here', [{ rev: 2, offset: 7, text: 'later' }]],
    ['contradicts what is known', [{ rev: 2, offset: 0, text: 'Other' }]],
    [
      'opens a block, and less is known here of the one before',
      [{ rev: 2, index: 1, offset: 0, text: 'x', before: 7 }],
    ],
    ['belongs to another version of the message', [{ rev: 3, offset: 5, text: 'two' }]],
    ['is of a message that is not known', [{ rev: 2, offset: 5, text: 'two', messageId: 'b' }]],
    ['is not what tabs of this version say', [{ rev: 2, offset: 5, text: 2 }]],
    ['is nothing', undefined],
  ])('is left out where it %s', (_, given) => {
    const { core } = tab([...begun, delta('One, ', 0)])
    const base = { sessionId: 's', messageId: 'a', index: 0 }
    const before = core.state
    hearTold(
      { core, leading: false },
      Array.isArray(given) ? given.map((entry) => ({ ...base, ...entry })) : given,
    )
    expect(core.state).toBe(before)
  })

  test('is left out in a tab that leads itself, and where nobody looks', () => {
    const { core } = tab(begun)
    const before = core.state
    const told = hear(tab(begun).core, [delta('One, ', 0)], 3)
    hearTold({ core, leading: true }, told)
    hearTold(undefined, told)
    expect(core.state).toBe(before)
  })

  test('is left out where the answer is settled here', () => {
    const { core } = tab([...begun, delta('One.', 0), { type: 'message.interrupted', id: 'a', rev: 4 }])
    const before = core.state
    hearTold({ core, leading: false }, [
      { sessionId: 's', messageId: 'a', index: 0, offset: 4, text: ' two', rev: 4 },
    ])
    expect(core.state).toBe(before)
  })
})

test('a tab that only looks on appends a delta before anything of it is stored', async () => {
  const [told, more] = [createHold(), createHold()]
  const storage = watchedStorage(memoryStorage(), likeBrowser())
  const steps = [['half', told, ' whole', more, '.']]
  const first = directChat({ steps, storage, world: createWorld({ name: 'one' }) })
  await idle()
  const second = directChat({ storage: storage.reopen(), world: createWorld({ name: 'two' }) })
  await idle()
  await first.session.send('one')
  const shown = () => second.session.get().messages.map((message) => textOf(message))
  await expect.poll(() => first.world.pass(200).then(shown)).toEqual(['one', 'half'])
  const appended: string[] = []
  const reply = second.session.get().messages[1]
  second.session.message(reply?.id ?? '').onAppend(({ text }) => appended.push(text))
  const store = storage.hold()
  told.release()
  await expect.poll(() => appended).toEqual([' whole'])
  store()
  more.release()
  await expect.poll(() => first.world.pass(200).then(shown)).toEqual(['one', 'half whole.'])
})
