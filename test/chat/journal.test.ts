import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldJournal, journalOf } from '../../src/chat/journal.ts'
import type { JournalEntry } from '../../src/chat/ports.ts'
import type { AssistantBlock, AssistantMessage } from '../../src/message/schema.ts'

const answer = (content: AssistantBlock[] = []): AssistantMessage => ({
  id: 'm1',
  sessionId: 's1',
  parentId: null,
  role: 'assistant',
  status: 'streaming',
  createdAt: 1,
  updatedAt: 1,
  v: 1,
  content,
})
const text = (value: string): AssistantBlock => ({ type: 'text', text: value })
const piece = (index: number, offset: number, value: string, block?: AssistantBlock): JournalEntry => ({
  sessionId: 's1',
  messageId: 'm1',
  index,
  offset,
  text: value,
  ...(block && { block }),
})
const call: AssistantBlock = { type: 'toolCall', id: 'c1', name: 'weather' }

describe('foldJournal', () => {
  test('without entries, or with nothing new, it returns the very same object', () => {
    const message = answer([text('tide')])
    expect(foldJournal(message, [])).toBe(message)
    expect(foldJournal(message, [piece(0, 0, 'ti'), piece(0, 2, 'de'), piece(0, 4, '')])).toBe(message)
    const user = { ...message, role: 'user' as const, content: [] }
    expect(foldJournal(user, [piece(0, 0, 'x')])).toBe(user)
  })

  const tables: [
    name: string,
    stored: AssistantBlock[],
    entries: JournalEntry[],
    content: AssistantBlock[],
  ][] = [
    ['a first piece without a block is text', [], [piece(0, 0, 'a')], [text('a')]],
    ['pieces in the wrong order', [text('a')], [piece(0, 2, 'c'), piece(0, 1, 'b')], [text('abc')]],
    ['only the tail of an overlap is new', [text('abc')], [piece(0, 1, 'bcd')], [text('abcd')]],
    ['a differing overlap keeps what is stored', [text('abc')], [piece(0, 1, 'bXd')], [text('abc')]],
    ['what comes after a hole opens no block', [], [piece(0, 4, 'd')], []],
    ['a hole stops its block', [text('a')], [piece(0, 2, 'c'), piece(0, 5, 'f')], [text('a')]],
    [
      'a hole in one block does not stop the others',
      [text('a')],
      [piece(0, 2, 'c'), piece(1, 0, 'x')],
      [text('a'), text('x')],
    ],
    ['a block behind a missing block waits', [text('a')], [piece(2, 0, 'z'), piece(3, 0, 'z')], [text('a')]],
    [
      'thinking grows',
      [{ type: 'thinking', text: 'h' }],
      [piece(0, 1, 'm')],
      [{ type: 'thinking', text: 'hm' }],
    ],
    [
      'the block is described by any of its pieces, whichever comes first',
      [],
      [piece(0, 1, 'b'), piece(0, 0, 'a'), piece(0, 0, 'a', { type: 'thinking', text: '', signature: 's' })],
      [{ type: 'thinking', text: 'ab', signature: 's' }],
    ],
    [
      'raw arguments grow',
      [],
      [piece(0, 0, '{"a', call), piece(0, 3, '":1}')],
      [{ ...call, rawArguments: '{"a":1}' }],
    ],
    [
      'a block that comes whole is only opened',
      [],
      [piece(0, 0, '', { type: 'source', url: 'u' })],
      [{ type: 'source', url: 'u' }],
    ],
    [
      'text for a block that has none is left out',
      [{ type: 'source', url: 'u' }],
      [piece(0, 0, 'x')],
      [{ type: 'source', url: 'u' }],
    ],
    ['a call without arguments stays without', [], [piece(0, 0, '', call)], [call]],
    ['half a surrogate pair at a border', [text('\ud83c')], [piece(0, 1, '\udf0a')], [text('\ud83c\udf0a')]],
  ]
  test.each(tables)('%s', (_, stored, entries, content) => {
    expect(foldJournal(answer(stored), entries)).toEqual(answer(content))
  })

  test('nothing it is given is changed', () => {
    const message = answer([text('a')])
    const entries = [piece(0, 2, 'c'), piece(0, 1, 'b'), piece(1, 0, 'd', call)]
    const before = structuredClone({ message, entries })
    foldJournal(message, entries)
    expect({ message, entries }).toEqual(before)
  })

  test('any split of a text into overlapping, shuffled, doubled entries folds to the text', () => {
    const pieces = fc.record({
      whole: fc.string({ minLength: 1, maxLength: 80, unit: 'binary' }),
      cuts: fc.array(fc.nat(80), { maxLength: 12 }),
      overlap: fc.nat(10),
      extra: fc.array(fc.tuple(fc.nat(80), fc.nat(20)), { maxLength: 5 }),
      stored: fc.nat(80),
      order: fc.infiniteStream(fc.nat()),
    })
    fc.assert(
      fc.property(pieces, ({ whole, cuts, overlap, extra, stored, order }) => {
        const borders = [...new Set([0, ...cuts.filter((cut) => cut < whole.length), whole.length])].sort(
          (a, b) => a - b,
        )
        const entries = borders.slice(1).map((end, i) => {
          const from = Math.max(0, (borders[i] ?? 0) - overlap)
          return piece(0, from, whole.slice(from, end))
        })
        for (const [from, length] of extra)
          if (from < whole.length) entries.push(piece(0, from, whole.slice(from, from + length)))
        const shuffled = [...entries, ...entries]
          .map((entry) => ({ entry, at: order.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }) => entry)
        const start = whole.slice(0, stored)
        expect(foldJournal(answer(start ? [text(start)] : []), shuffled)).toEqual(answer([text(whole)]))
      }),
    )
  })
})

/** A block, and what it is after some text came. */
const growth = fc.oneof(
  fc.record({
    type: fc.constant('text' as const),
    text: fc.string(),
    signature: fc.constantFrom(undefined, 's'),
  }),
  fc.record({ type: fc.constant('thinking' as const), text: fc.string() }),
  fc.record({ type: fc.constant('toolCall' as const), id: fc.constant('c'), name: fc.string() }),
  fc.record({
    type: fc.constant('toolCall' as const),
    id: fc.constant('c'),
    name: fc.string(),
    rawArguments: fc.string(),
  }),
  fc.record({ type: fc.constant('source' as const), url: fc.string() }),
  fc.record({ type: fc.constant('other' as const), provider: fc.string(), raw: fc.jsonValue() }),
)

/** The block as it was when only `length` units of its text had come. */
function shortened(block: AssistantBlock, length: number): AssistantBlock {
  if (block.type === 'text' || block.type === 'thinking')
    return { ...block, text: block.text.slice(0, length) }
  if (block.type === 'toolCall' && block.rawArguments !== undefined)
    return { ...block, rawArguments: block.rawArguments.slice(0, length) }
  return block
}

describe('journalOf', () => {
  test('its entries turn every earlier state of a growing message into the later one', () => {
    const lengths = fc.array(fc.nat(12), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(fc.array(growth, { maxLength: 5 }), fc.nat(5), lengths, (content, known, cut) => {
        const after = answer(content)
        const before = answer(content.slice(0, known).map((block, i) => shortened(block, cut[i] ?? 0)))
        const entries = journalOf(before, after)
        expect(foldJournal(before, entries ?? [])).toEqual(after)
      }),
    )
  })

  test('says nothing for what has not changed, and only what was appended for what has', () => {
    const before = answer([text('a'), call])
    expect(journalOf(before, before)).toEqual([])
    expect(journalOf(before, structuredClone(before))).toEqual([])
    const after = answer([text('ab'), call, text('c')])
    expect(journalOf(before, after)).toEqual([piece(0, 1, 'b'), piece(2, 0, 'c')])
  })

  test('describes a block that is more than text', () => {
    const after = answer([
      { type: 'thinking', text: 'hm', signature: 's' },
      { ...call, rawArguments: '{' },
    ])
    expect(journalOf(answer(), after)).toEqual([
      piece(0, 0, 'hm', { type: 'thinking', text: '', signature: 's' }),
      piece(1, 0, '{', { ...call, rawArguments: '' }),
    ])
  })

  const others: [name: string, before: AssistantMessage, after: AssistantMessage][] = [
    ['a status', answer(), { ...answer(), status: 'completed' }],
    ['a field more', answer(), { ...answer(), model: 'm' }],
    ['a text replaced', answer([text('ab')]), answer([text('ac')])],
    ['a text cut', answer([text('ab')]), answer([text('a')])],
    ['a block gone', answer([text('ab')]), answer()],
    ['a block of another type', answer([text('')]), answer([{ type: 'thinking', text: '' }])],
    ['a signature', answer([text('a')]), answer([{ type: 'text', text: 'ab', signature: 's' }])],
    ['arguments parsed', answer([call]), answer([{ ...call, arguments: {} }])],
    ['empty raw arguments where there were none', answer([call]), answer([{ ...call, rawArguments: '' }])],
    [
      'a block that came whole and changed',
      answer([{ type: 'source', url: 'a' }]),
      answer([{ type: 'source', url: 'b' }]),
    ],
  ]
  test.each(others)('%s cannot be said by entries', (_, before, after) => {
    expect(journalOf(before, after)).toBeNull()
  })
})
