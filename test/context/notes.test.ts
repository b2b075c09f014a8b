import { describe, expect, test } from 'vitest'
import type { Policy } from '../../src/context/draft.ts'
import { edgesFirst, finishedTasks, goalNote, nearQuestion, pins, recalled } from '../../src/context/notes.ts'
import { slidingWindow } from '../../src/context/policies.ts'
import type { Recalled } from '../../src/context/recalled.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import {
  assistantMessage,
  callingMessage,
  deepFreeze,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { exact, ids, sent, turn, why } from './sent.ts'

const by = (messages: Message[], policies: Policy[], window?: number, system = 'Be brief.') =>
  sent(deepFreeze(messages), {
    system,
    estimate: exact,
    policies,
    ...(window !== undefined && { window, reserve: 0 }),
  })

const pinned = { metadata: { pinned: true } }
const code = toolMessage('t1', 'c1', { content: [{ type: 'text', text: 'code  QX7\n' }], ...pinned })
const booked = [userMessage('u1', 'book'), callingMessage('s1', ['c1']), code, assistantMessage('a1')]

describe('a pin', () => {
  test('stays where it is as long as it is sent there', () => {
    const context = by([...booked, ...turn(2)], [pins()])
    expect([context.system, context.notes]).toEqual(['Be brief.', []])
  })

  test('stands behind the instructions, word for word, where its turn is left out, and is told of as included', () => {
    const context = by([...booked, ...turn(2)], [pins(), slidingWindow(1)])
    expect(context.system).toBe('Be brief.\n\n[pinned] clock: code  QX7\n')
    expect(context.included[0]).toMatchObject({ id: 't1', reason: 'pins' })
    expect(why(context)).toBe('u1 window, s1 window, a1 window')
    expect(context.sections).toMatchObject({ system: 9, pins: 27 })
  })

  test('may be a fact, and may be chosen by the app', () => {
    const isPinned = (message: Message) => message.id === 'u1'
    const context = by([...booked, ...turn(2)], [pins({ isPinned, facts: ['vegetarian'] }), slidingWindow(1)])
    expect(context.system).toBe('Be brief.\n\n[pinned] vegetarian\n\n[pinned] book')
  })

  test('is what is dropped last: memory, finished tasks, summaries and the goal go before', () => {
    const policies = [
      pins({ facts: ['fact'] }),
      goalNote({ goal: 'goal' }),
      recalled([
        { text: 'near', provenance: { kind: 'fact', id: 'f1' } },
        { text: 'far', provenance: { kind: 'fact', id: 'f2' } },
      ]),
    ]
    const kinds = (window: number) =>
      by([userMessage('u1', 'q')], policies, window).notes.map(({ text }) => text)
    expect(kinds(999)).toEqual(['[pinned] fact', '[task] goal', '[from memory] near', '[from memory] far'])
    expect(kinds(60)).toEqual(['[pinned] fact', '[task] goal', '[from memory] near'])
    expect(kinds(41)).toEqual(['[pinned] fact', '[task] goal'])
    expect(kinds(28)).toEqual(['[pinned] fact'])
    expect(by([userMessage('u1', 'q')], policies, 12)).toMatchObject({
      notes: [],
      droppedNotes: { length: 4 },
    })
  })
})

describe('the goal', () => {
  const changed = userMessage('u3', 'take the train', { metadata: { goal: true } })

  test('is what the user said first, restated where that is not sent', () => {
    expect(by([...booked, ...turn(2)], [goalNote()]).system).toBe('Be brief.')
    const context = by([...booked, ...turn(2)], [goalNote(), slidingWindow(1)])
    expect(context.system).toBe('Be brief.\n\n[task] book')
    expect(context.included[0]).toMatchObject({ id: 'u1', reason: 'goal' })
  })

  test('gives way to a later one, which is restated though its message is sent', () => {
    const context = by([...booked, changed, ...turn(4)], [goalNote()])
    expect(context.system).toBe('Be brief.\n\n[task, instead of earlier ones] take the train')
    expect(by([...booked, changed], [goalNote()]).notes).toEqual([])
  })

  test('marks what set an earlier one, also while the newest message sets it', () => {
    const again = userMessage('u5', 'stay at home', { metadata: { goal: true } })
    const changes = (messages: Message[]) =>
      by(messages, [goalNote()])
        .included.filter((item) => item.changes)
        .map((item) => `${item.id} ${item.changes}`)
    expect(changes([...booked, ...turn(2), ...turn(4)])).toEqual([])
    expect(changes([...booked, ...turn(2), changed])).toEqual(['u1 superseded'])
    expect(changes([...booked, ...turn(2), changed, ...turn(4), again])).toEqual([
      'u1 superseded',
      'u3 superseded',
    ])
    const [first] = by([...booked, changed], [goalNote()]).messages
    expect(first && textOf(first)).toBe('[an earlier task, superseded by a later message]\nbook')
  })

  test('may be known to the app', () => {
    expect(by(booked, [goalNote({ goal: 'fly' })]).system).toBe('Be brief.\n\n[task] fly')
  })
})

describe('a finished task', () => {
  const task = { from: 'u2', to: 'a3', line: 'hotel: found' }
  const messages = [...turn(1), ...turn(2), ...turn(3), ...turn(4)]

  test('is one line in place of its messages', () => {
    const context = by(messages, [finishedTasks([task])])
    expect(ids(context)).toBe('u1 a1 u4 a4')
    expect(context.system).toBe('Be brief.\n\n[done] hotel: found')
    expect(why(context)).toBe('u2 task, a2 task, u3 task, a3 task')
  })

  test('takes no half of a call along, and nothing of the newest turn', () => {
    const half = { from: 'u1', to: 's1', line: 'half' }
    expect(ids(by([...booked, ...turn(2)], [finishedTasks([half])]))).toBe('s1 t1 a1 u2 a2')
    expect(ids(by(messages, [finishedTasks(() => [{ ...task, to: 'a4' }])]))).toBe('u1 a1 u4 a4')
  })

  test('that ends between the results of one answer leaves the answer and both, and so does one that begins there', () => {
    const both = [userMessage('u1'), callingMessage('s1', ['c1', 'c2'])]
    const results = [toolMessage('t1', 'c1'), toolMessage('t2', 'c2')]
    const messages = [...both, ...results, assistantMessage('a1'), ...turn(2)]
    const ends = finishedTasks([{ from: 'u1', to: 't1', line: 'x' }])
    expect(ids(by(messages, [ends]))).toBe('s1 t1 t2 a1 u2 a2')
    const begins = finishedTasks([{ from: 't2', to: 'a1', line: 'x' }])
    expect(ids(by(messages, [begins]))).toBe('u1 s1 t1 t2 u2 a2')
  })

  test('is one of many: each has its line, and what two share goes once', () => {
    const many = Array.from({ length: 40 }, (_, n) => turn(n)).flat()
    const tasks = Array.from({ length: 38 }, (_, n) => ({ from: `u${n}`, to: `a${n + 1}`, line: `${n}` }))
    const context = by(many, [finishedTasks(tasks)])
    expect(ids(context)).toBe('u39 a39')
    expect(context.notes.map(({ text }) => text)).toEqual(tasks.map(({ line }) => `[done] ${line}`))
  })

  test('whose messages are not there has no line', () => {
    expect(
      by(messages, [
        finishedTasks([
          { ...task, from: 'x' },
          { ...task, to: 'x' },
        ]),
      ]).policies,
    ).toEqual([])
  })
})

describe('what was recalled', () => {
  const memory = (
    text: string,
    id: string,
    kind: 'fact' | 'message' = 'fact',
    source?: string,
  ): Recalled => ({
    text,
    provenance: { kind, id, ...(source !== undefined && { source }) },
  })

  test('stands behind the instructions with where it is from, the best at both ends', () => {
    const found = [memory('1', 'a'), memory('2', 'b', 'fact', 'May'), memory('3', 'c'), memory('1', 'd')]
    const { system, notes } = by(turn(1), [recalled(found)])
    expect(system).toBe('Be brief.\n\n[from memory] 1\n\n[from memory] 3\n\n[from memory: May] 2')
    expect(notes[2]?.provenance).toEqual({ kind: 'fact', id: 'b', source: 'May' })
  })

  test('is not sent where its message is, and counts as included where it is not', () => {
    const found = [memory('old', 'a1', 'message'), memory('new', 'a3', 'message')]
    const messages = [...turn(1), ...turn(2), ...turn(3)]
    const context = by(messages, [recalled(found), slidingWindow(1)])
    expect(context.notes.map(({ text }) => text)).toEqual(['[from memory] old'])
    expect(context.included[0]).toMatchObject({ id: 'a1', reason: 'memory' })
  })

  test('may stand before the question, where a long history lies between', () => {
    const context = by(
      [...turn(1), userMessage('u2', 'and?')],
      [recalled([memory('blue', 'a')]), nearQuestion()],
    )
    expect(context.system).toBe('Be brief.')
    expect(context.messages.at(-1)?.content.map((block) => 'text' in block && block.text)).toEqual([
      '[from memory] blue\n\n',
      'and?',
    ])
  })

  test('goes before the question only where there is one', () => {
    const context = by(
      [assistantMessage('a1')],
      [recalled([memory('blue', 'a')]), nearQuestion()],
      undefined,
      '',
    )
    expect(context.system).toBe('[from memory] blue')
  })
})

test('the best of a list stand at its ends', () => {
  expect(edgesFirst([1, 2, 3, 4, 5])).toEqual([1, 3, 5, 4, 2])
  expect(edgesFirst([])).toEqual([])
})
