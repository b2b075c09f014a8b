import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { batchOf, note, nothingUnsaved, withoutStored } from '../../src/chat/batch.ts'
import { withoutSession } from '../../src/chat/local.ts'
import { LOCAL_POSITION } from '../../src/chat/ports.ts'
import type { AssistantBlock } from '../../src/message/schema.ts'
import { emptyState, newTrace, putMessages, removeMessage } from '../../src/protocol/state.ts'
import { histories, numbered } from '../protocol/history.ts'
import { assistant, created, delta, numberedFrom, started, text, user } from '../protocol/rows.ts'
import { SESSION } from '../protocol/server-model.ts'
import { desk, fields } from './desk.ts'

describe('what is unsaved', () => {
  test('is stored in the end, however it is collected, and whichever writes fail on the way', async () => {
    const steps = fc.array(fc.record({ events: fc.nat(9), fails: fc.boolean(), queue: fc.option(fc.nat(3)) }))
    await fc.assert(
      fc.asyncProperty(histories(), steps, async ({ events }, writes) => {
        const at = desk()
        const envelopes = numbered(events)
        let next = 0
        for (const { events: count, fails, queue } of writes) {
          for (const envelope of envelopes.slice(next, next + count)) at.fold(envelope)
          next += count
          if (queue !== null) at.queue(`row${queue}`, !fails)
          await at.write(fails)
        }
        for (const envelope of envelopes.slice(next)) at.fold(envelope)
        await at.write(true)
        await at.write()
        await at.expectSame()
      }),
    )
  })

  test('is stored at every moment that was written', async () => {
    await fc.assert(
      fc.asyncProperty(histories(undefined, 25), fc.nat(3), async ({ events }, every) => {
        const at = desk()
        for (const [n, envelope] of numbered(events).entries()) {
          at.fold(envelope)
          if (n % (every + 1) !== 0) continue
          await at.write()
          await at.expectSame()
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('what another tab has stored of a growing answer', () => {
  test('is not written again, wherever that tab was', () => {
    const whole = 'what is told by two'
    fc.assert(
      fc.property(fc.nat(whole.length), fc.array(fc.integer({ min: 1, max: 5 })), (length, steps) => {
        const unsaved = nothingUnsaved()
        const pieces = []
        let offset = 0
        for (const step of steps) {
          const piece = whole.slice(offset, offset + step)
          pieces.push({ messageId: 'a', index: 0, offset, text: piece, opens: offset === 0 })
          offset += piece.length
        }
        note(unsaved, { pieces, changed: new Set(), removed: new Set() })
        const message = assistant('a', { content: text(whole.slice(0, length)) })
        withoutStored(unsaved, [{ message, position: 1 }])
        const left = (unsaved.pieces.get('a') ?? []).filter((piece) => piece.text !== '')
        expect(left.map((piece) => piece.text).join('')).toBe(whole.slice(length, Math.max(length, offset)))
        if (left[0]) expect(left[0].offset).toBe(length)
      }),
    )
  })
})

const streamed = (...events: Parameters<typeof numberedFrom>[1][]) =>
  numberedFrom(
    0,
    created(user('u', { seq: 1, rev: 1 })),
    created(assistant('a', { seq: 2, rev: 2 })),
    started('a', 3),
    ...events,
  )

const types = (changes: { type: string }[]) => changes.map(({ type }) => type).toSorted()

describe('a growing answer', () => {
  test('is written as what was added, adjoining pieces as one', async () => {
    const at = desk()
    for (const envelope of streamed(delta('a', 'one ', 0))) at.fold(envelope)
    await at.write()
    for (const [n, more] of ['two ', 'three'].entries())
      at.fold({ id: { n: 5 + n, tag: 'x' }, event: delta('a', more) })
    const changes = await at.write()
    expect(changes).toMatchObject([
      { type: 'journal', entry: { messageId: 'a', index: 0, offset: 4, text: 'two three' } },
    ])
    await at.expectSame()
  })

  test('is written whole again once its journal is long', async () => {
    const at = desk()
    for (const envelope of streamed(delta('a', 'x', 0))) at.fold(envelope)
    await at.write()
    const seen: string[][] = []
    for (let n = 0; n < 4; n++) {
      at.fold({ id: { n: 5 + n, tag: 'x' }, event: delta('a', 'x'.repeat(30_000)) })
      seen.push(types(await at.write()))
    }
    expect(seen).toEqual([['journal'], ['journal'], ['message'], ['journal']])
    await at.expectSame()
  })

  test('is written whole after a write that failed, since its journal may have a hole', async () => {
    const at = desk()
    for (const envelope of streamed(delta('a', 'one', 0))) at.fold(envelope)
    await at.write()
    at.fold({ id: { n: 5, tag: 'x' }, event: delta('a', ' two') })
    await at.write(true)
    at.fold({ id: { n: 6, tag: 'x' }, event: delta('a', ' three') })
    expect(types(await at.write())).toEqual(['message'])
    await at.expectSame()
  })

  test('keeps the description of a block that began without a text, or with one of its own', async () => {
    const blocks: AssistantBlock[] = [
      { type: 'toolCall', id: 'c', name: 'clock' },
      { type: 'toolCall', id: 'c', name: 'clock', rawArguments: '{"a' },
      { type: 'thinking', text: 'hm', signature: 's' },
      { type: 'source', url: 'https://example.org' },
    ]
    for (const [begun, first] of blocks.flatMap((block) => [[block, ''] as const, [block, 'b'] as const])) {
      const at = desk()
      for (const envelope of streamed()) at.fold(envelope)
      await at.write()
      at.fold({
        id: { n: 4, tag: 'x' },
        event: { type: 'message.delta', id: 'a', index: 0, block: begun, delta: first },
      })
      await at.write()
      await at.expectSame()
      at.fold({ id: { n: 5, tag: 'x' }, event: delta('a', '":1}', undefined, 0) })
      await at.write()
      await at.expectSame()
      at.fold({ id: { n: 6, tag: 'x' }, event: delta('a', 'next', 0, 1) })
      await at.write()
      await at.expectSame()
    }
  })
})

describe('a batch', () => {
  test('speaks of what is, not of what was noted: put and removed, removed and put', async () => {
    const at = desk()
    const one = user('one', { seq: 1 })
    at.change((state, trace) => putMessages(state, [one], trace))
    at.change((state, trace) => removeMessage(state, 'one', trace))
    expect(await at.write()).toEqual([{ type: 'deleteMessage', id: 'one' }])
    at.change((state, trace) => removeMessage(putMessages(state, [one], trace), 'one', trace))
    at.change((state, trace) => putMessages(state, [one], trace))
    expect(types(await at.write())).toEqual(['message'])
    at.change((state, trace) =>
      putMessages(removeMessage(state, 'one', trace), [{ ...one, content: [] }], trace),
    )
    expect(types(await at.write())).toEqual(['message'])
    await at.expectSame()
  })

  test('of a deleted session deletes it, whatever else was noted, and keeps its outbox', async () => {
    const at = desk()
    for (const envelope of streamed(delta('a', 'x', 0))) at.fold(envelope)
    await at.write()
    at.fold({ id: { n: 5, tag: 'x' }, event: delta('a', 'y') })
    at.queue('d', true)
    at.change((state, trace) => withoutSession({ ...state, deleted: true }, [], trace))
    expect(types(await at.write())).toEqual(['deleteSession', 'outbox', 'session'])
    const { session, rows, outbox } = await at.storage.window(SESSION, { limit: 9 })
    expect([session?.deleted, rows, outbox.length]).toEqual([true, [], 1])
  })

  test('has a cursor only with the rows that it speaks of', async () => {
    const at = desk()
    const session = { id: SESSION, createdAt: 1, updatedAt: 1, metadata: {}, headId: null, v: 1 }
    at.fold({ id: { n: 1, tag: 'x' }, event: { type: 'session.updated', session } })
    at.fold({
      id: { n: 2, tag: 'x' },
      event: created(user('u', { seq: 1, rev: 1, content: text('hi') as [] })),
    })
    const changes = await at.write()
    expect(types(changes)).toEqual(['message', 'session'])
    expect(changes.at(-1)).toMatchObject({ type: 'session', row: { eventId: '2.x', rev: 1 } })
  })

  test('of a tab that does not own the session’s row leaves it out, and one of nothing is empty', () => {
    const state = {
      ...emptyState(SESSION),
      session: { id: SESSION, createdAt: 1, updatedAt: 1, metadata: {}, headId: null, v: 1 },
    }
    const unsaved = { ...nothingUnsaved(), session: true }
    expect(batchOf(state, new Map(), unsaved, { ...fields(), owns: false }, new Map())).toEqual([])
    expect(types(batchOf(state, new Map(), unsaved, fields(), new Map()))).toEqual(['session'])
    expect(batchOf(emptyState(SESSION), new Map(), unsaved, fields(), new Map())).toEqual([])
  })

  test('places what has no place of its own where it stands locally', () => {
    const places = new Map([['u', LOCAL_POSITION + 7]])
    const trace = newTrace()
    const state = putMessages(
      emptyState(SESSION),
      [user('u', { status: 'pending' }), user('v', { seq: 3 })],
      trace,
    )
    const unsaved = nothingUnsaved()
    note(unsaved, trace)
    expect(batchOf(state, new Map(), unsaved, fields(places), new Map())).toMatchObject([
      { row: { position: LOCAL_POSITION + 7 } },
      { row: { position: 3 } },
    ])
  })
})
