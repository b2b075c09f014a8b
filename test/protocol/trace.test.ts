import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { withText } from '../../src/protocol/delta.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { reduceAll } from '../../src/protocol/reduce.ts'
import { messageOf, messagesOf, newTrace, type SessionState, type Trace } from '../../src/protocol/state.ts'
import { empty, expectSame, fold } from './fold.ts'
import { histories, numbered } from './history.ts'
import { assistant, created, delta, numberedFrom, plain, user } from './rows.ts'
import { grown } from './server-model.ts'

/** Follows a session by what folds say they did, as a storage does: pieces are appended, all else is copied whole. */
function follow(shadow: Map<string, Message>, state: SessionState, trace: Trace): void {
  for (const id of trace.removed) shadow.delete(id)
  for (const { messageId, index, offset, text, opens } of trace.pieces) {
    const message = shadow.get(messageId)
    if (trace.changed.has(messageId) || trace.removed.has(messageId) || message?.role !== 'assistant')
      continue
    const whole = messageOf(state, messageId)
    const begun = opens && whole?.role === 'assistant' ? whole.content[index] : undefined
    const block = begun ? withText(begun, '') : message.content[index]
    if (!block) throw new Error(`a piece of block ${index}, which nobody opened`)
    const present = begun ? '' : (grown(block) ?? '')
    expect(offset).toBe(present.length)
    shadow.set(messageId, {
      ...message,
      content: message.content.toSpliced(index, 1, withText(block, present + text)),
    })
  }
  for (const id of trace.changed) {
    const message = messageOf(state, id)
    if (!message) throw new Error(`${id} is said to have changed and is not there`)
    shadow.set(id, message)
  }
}

const copyOf = (state: SessionState) =>
  new Map([...messagesOf(state)].map((message) => [message.id, message]))

describe('what a fold says it did', () => {
  test('is enough to follow it, in batches of any size', () => {
    fc.assert(
      fc.property(
        histories(),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (history, sizes) => {
          const envelopes = numbered(history.events)
          const shadow = new Map<string, Message>()
          let state = empty
          for (let from = 0, turn = 0; from < envelopes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            const trace = newTrace()
            state = reduceAll(state, envelopes.slice(from, from + size), 0, trace)
            follow(shadow, state, trace)
            expectSame(shadow, copyOf(state))
            from += size
          }
        },
      ),
    )
  })

  test('is enough to follow snapshots, too', () => {
    fc.assert(
      fc.property(histories(), fc.nat(1000), fc.nat(1000), ({ events, moments }, known, asked) => {
        const state = fold(numbered(events).slice(0, known % (events.length + 1)))
        const moment = moments[asked % moments.length]
        if (!moment) return
        const shadow = copyOf(state)
        const trace = newTrace()
        follow(shadow, mergePage(state, moment.page, trace), trace)
        expectSame(shadow, copyOf(mergePage(state, moment.page)))
      }),
    )
  })

  test('names a message once: removed, or changed', () => {
    const before = fold(plain(created(user('u', { rev: 1 }))))
    const trace = newTrace()
    const events = [
      { type: 'message.deleted', id: 'u', rev: 2 } as const,
      { type: 'message.updated', message: user('u', { rev: 3 }) } as const,
    ]
    reduceAll(before, numberedFrom(0, ...events), 0, trace)
    expect([...trace.removed]).toEqual([])
    expect([...trace.changed]).toEqual(['u'])
  })

  test('names both ids of a renamed message, and its children', () => {
    const before = fold(
      plain(created(user('c1', { status: 'pending' })), created(user('c2', { parentId: 'c1' }))),
    )
    const trace = newTrace()
    reduceAll(before, plain(created(user('s1', { seq: 1, rev: 1 }), 'c1')), 0, trace)
    expect([...trace.removed]).toEqual(['c1'])
    expect([...trace.changed].toSorted()).toEqual(['c2', 's1'])
  })

  test('is nothing where an answer would have begun, were nothing missing before it', () => {
    const trace = newTrace()
    expect(messageOf(reduceAll(empty, plain(delta('a', 'x', 5)), 0, trace), 'a')).toBeUndefined()
    expect(trace).toEqual(newTrace())
    reduceAll(empty, plain(delta('a', 'x', 0)), 0, trace)
    expect([...trace.changed]).toEqual(['a'])
  })

  test('is nothing where nothing is new', () => {
    const events = numberedFrom(0, created(user('u')), created(assistant('a', { parentId: 'u' })))
    const trace = newTrace()
    reduceAll(fold(events), events, 0, trace)
    expect(trace).toEqual(newTrace())
  })
})
