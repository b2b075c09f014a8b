import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { createCell } from '../../src/lib/cell.ts'
import { liveOutput, readOutput } from '../../src/message/output.ts'
import type { Message } from '../../src/message/schema.ts'
import { ending } from '../chat/direct-chat.ts'
import { assistantMessage } from '../support/messages.ts'

const Person = z.object({ name: z.string(), age: z.number() })
const ada = '{"name":"Ada","age":36}'
const old = '{"name":"Ada","age":"36"}'

describe('a value is read', () => {
  const message = assistantMessage('a1', ada)

  test('with the type of its schema, as that lets it through', async () => {
    const Named = z.pipe(
      z.object({ name: z.string() }),
      z.transform(({ name }) => name.length),
    )
    const length: number = await readOutput(message, Named)
    expect(length).toBe(3)
  })

  test.each<[string, Message, string]>([
    ['does not fit', assistantMessage('a1', old), 'invalid-output'],
    ['failed', { ...message, status: 'failed', error: { code: 'auth', message: 'no' } }, 'auth'],
    ['was cut off', { ...message, status: 'interrupted' }, 'aborted'],
    ['is not there yet', { ...message, status: 'streaming' }, 'aborted'],
  ])('or why there is none, where the answer %s', async (_, given, code) => {
    expect(await ending(readOutput(given, Person))).toBe(code)
  })
})

describe('a live value', () => {
  const at = (text: string, more: Partial<Message> = {}) =>
    ({ ...assistantMessage('a1', text), status: 'streaming', rev: 1, ...more }) as Message

  test.each<[string, readonly (readonly [Message | undefined, unknown])[]]>([
    [
      'grows',
      [
        [undefined, undefined],
        [at('{"a":"x'), { a: 'x' }],
        [at('{"a":"xy","b":['), { a: 'xy', b: [] }],
      ],
    ],
    [
      'begins where words and fences end',
      [
        [at('So: ```js'), undefined],
        [at('So: ```json\n[1,'), [1]],
      ],
    ],
    [
      'stands where words follow it',
      [
        [at('[1] is it'), [1]],
        [at('[1] is it.', { status: 'completed', rev: 2 }), [1]],
      ],
    ],
    [
      'is begun anew with the text',
      [
        [at('{"a":1,'), { a: 1 }],
        [at('', { rev: 2 }), undefined],
        [at('{"b":2,', { rev: 2 }), { b: 2 }],
      ],
    ],
    [
      'is read again where the end is another',
      [
        [at('{"a":1}'), { a: 1 }],
        [at('{"b":22}', { status: 'completed', rev: 2 }), { b: 22 }],
      ],
    ],
    ['is none of a text', [[at('Ada.'), undefined]]],
  ])('%s', (_, steps) => {
    const cell = createCell<Message | undefined>(undefined)
    const live = liveOutput(cell)
    let told = 0
    live.subscribe(() => {
      told++
    })
    for (const [message, value] of steps) {
      cell.set(message)
      expect(live.get().value).toEqual(value)
      expect(live.get()).toBe(live.get())
    }
    expect(told).toBe(steps.filter(([message]) => message).length)
  })

  test('grows in place, since no part of a text is read twice', () => {
    const text = `{"a":"${'x'.repeat(2_000)}"}`
    const cell = createCell<Message | undefined>(at(text.slice(0, 1)))
    const live = liveOutput<{ a: string }>(cell)
    const first = live.get().value
    for (let end = 20; end < text.length; end += 20) {
      cell.set(at(text.slice(0, end)))
      expect(live.get().value).toBe(first)
    }
    cell.set(at(text, { status: 'completed', rev: 2 }))
    expect(live.get().value).toBe(first)
    expect(first?.a).toHaveLength(2_000)
  })
})
