import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseParser, formatSse } from '../../src/lib/sse.ts'
import { cutAt, dataOf, framesOf, hear } from './hear.ts'
import { readSlowly } from './sse-reference.ts'

const encoder = new TextEncoder()

/** Streams that are all trap: what a line may be made of, and every kind of end. */
const traps = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'data',
        'event',
        'id',
        'retry',
        ':',
        ': ',
        'Data',
        'dat',
        ' data',
        'data:',
        'data: ',
        'event:',
        'id:',
      ),
      fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', '\n\r', '\r\r\n'),
      fc.constantFrom(
        '\ufeff',
        'ï»¿',
        '\0',
        '12',
        '007',
        '-1',
        '1e3',
        '😀',
        'é',
        '\u2028',
        '\x0b',
        '\x85',
        ' ',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 30, size: 'max' },
  )
  .map((parts) => encoder.encode(parts.join('')))

describe('a stream', () => {
  test('is read as the specification says', () => {
    fc.assert(
      fc.property(traps, (bytes) => {
        expect(hear([bytes])).toEqual(readSlowly(bytes))
      }),
      { numRuns: 2_000 },
    )
  })

  test('gives the same however it is cut', () => {
    fc.assert(
      fc.property(traps, fc.array(fc.nat(), { maxLength: 8 }), (bytes, ends) => {
        expect(hear(cutAt(bytes, ends))).toEqual(readSlowly(bytes))
      }),
      { numRuns: 2_000 },
    )
  })

  test('gives the same byte by byte', () => {
    fc.assert(
      fc.property(traps, (bytes) => {
        expect(hear([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(readSlowly(bytes))
      }),
      { numRuns: 500 },
    )
  })

  test('of bytes that are no text loses the characters, not the lines', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat()), (bytes, ends) => {
        const stream = Uint8Array.of(
          ...encoder.encode('data: '),
          ...bytes,
          ...encoder.encode('\n\ndata: after\n\n'),
        )
        expect(hear(cutAt(stream, ends))).toEqual(readSlowly(stream))
        expect(hear([stream]).frames.at(-1)?.data).toBe('after')
      }),
    )
  })
})

describe('a line ends', () => {
  test.each(['\n', '\r', '\r\n'])('with %j', (end) => {
    expect(framesOf(['id: 1', 'event: e', 'data: a', 'data: b', '', ''].join(end))).toEqual([
      { id: '1', event: 'e', data: 'a\nb' },
    ])
  })

  test('with a CR at once: an event does not wait for the LF that may follow', () => {
    const data: string[] = []
    const parser = createSseParser({ onFrame: (frame) => data.push(frame.data) })
    parser.feed('data: x\r\r')
    expect(data).toEqual(['x'])
    parser.feed('\ndata: y\r\n')
    parser.feed('\r')
    expect(data).toEqual(['x', 'y'])
    parser.feed('\n\ndata: z\n\n')
    expect(data).toEqual(['x', 'y', 'z'])
  })

  test('with a CRLF once, also when it is cut in the middle', () => {
    expect(dataOf('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual(['a\nb'])
  })

  test('nowhere else', () => {
    const data = 'a\u2028b\u2029c\x0bd\x0ce\x85f'
    expect(dataOf(`data: ${data}\n\n`)).toEqual([data])
  })
})

describe('a byte order mark', () => {
  const mark = Uint8Array.of(0xef, 0xbb, 0xbf)
  const event = encoder.encode('data: x\n\n')

  test('at the start is none of the text, wherever it is cut', () => {
    for (const end of [0, 1, 2, 3])
      expect(dataOf(...cutAt(Uint8Array.of(...mark, ...event), [end]))).toEqual(['x'])
  })

  test('is one: a second one belongs to the first line, and so does one that comes later', () => {
    expect(dataOf(mark, mark, event)).toEqual([])
    expect(dataOf(event, mark, event)).toEqual(['x'])
  })

  test('is not what looks like one in another encoding', () => {
    expect(dataOf('ï»¿data: x\n\n')).toEqual([])
    expect(dataOf(encoder.encode('ï»¿data: x\n\n'))).toEqual([])
  })
})

describe('a field', () => {
  test.each([
    ['data:x\n\n', [{ data: 'x' }]],
    ['data:  x\n\n', [{ data: ' x' }]],
    ['data\n\n', [{ data: '' }]],
    ['data:\ndata:\n\n', [{ data: '\n' }]],
    ['event: e\n\n', []],
    ['id: 1\n\n', []],
    ['id: 1\n\ndata: x\n\n', [{ data: 'x' }]],
    ['id: 1\ndata: x\n\ndata: y\n\n', [{ id: '1', data: 'x' }, { data: 'y' }]],
    ['id: a\0b\ndata: x\n\n', [{ data: 'x' }]],
    ['id: \ndata: x\n\n', [{ id: '', data: 'x' }]],
    ['event: \ndata: x\n\n', [{ data: 'x' }]],
    ['event: a\nevent: b\ndata: x\n\n', [{ event: 'b', data: 'x' }]],
    ['DATA: x\n\n', []],
    [' data: x\n\n', []],
    ['data : x\n\n', []],
    ['x: data: x\n\n', []],
  ])('%j', (stream, frames) => {
    expect(framesOf(stream)).toEqual(frames)
  })

  test.each([
    ['retry: 1500', [1500]],
    ['retry:0', [0]],
    ['retry: 007', [7]],
    ['retry: -1', []],
    ['retry: 1.5', []],
    ['retry: 1e3', []],
    ['retry: ', []],
    ['retry', []],
    ['retry: 10 ', []],
    ['retry: ١', []],
    ['retry: soon', []],
  ])('%j', (line, retries) => {
    expect(hear([`${line}\n`]).retries).toEqual(retries)
  })

  test('that is none is handed to whoever wants it, whole', () => {
    const stray: string[] = []
    const parser = createSseParser({ onFrame: () => {}, onStray: (line) => stray.push(line) })
    parser.feed('{"error":{"message":"overloaded"}}\ndata: x\nretry: soon\n: comment\n\n')
    expect(stray).toEqual(['{"error":{"message":"overloaded"}}'])
  })
})

describe('a frame that was written', () => {
  const line = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replace(/[\r\n\0]/g, ''))
  const data = fc
    .array(fc.oneof(line, fc.constantFrom('\n', '\n\n', ' ', ':', 'data: ', '\ufeff')))
    .map((parts) => parts.join(''))
  const frame = fc.record(
    { id: line, event: line.filter((text) => text !== ''), data },
    { requiredKeys: ['data'] },
  )

  test('is read as it was', () => {
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat()), (frames, ends) => {
        const bytes = encoder.encode(frames.map((each) => formatSse(each)).join(''))
        expect(hear(cutAt(bytes, ends)).frames).toEqual(frames)
      }),
    )
  })

  test('is read with line feeds where it had other line ends', () => {
    expect(framesOf(formatSse({ data: 'a\r\nb\rc\nd\r' }))).toEqual([{ data: 'a\nb\nc\nd\n' }])
  })

  test('beside comments and a time to wait is read as all three', () => {
    fc.assert(
      fc.property(frame, line, fc.nat(), (given, comment, retry) => {
        expect(hear([formatSse({ ...given, comment, retry })])).toEqual({
          frames: [given],
          comments: [comment],
          retries: [retry],
        })
      }),
    )
  })

  test('with a comment of several lines says nothing else', () => {
    const stream = formatSse({ comment: 'a\ndata: evil\r\rdata: evil' })
    expect(hear([stream])).toEqual({
      frames: [],
      comments: ['a', 'data: evil', '', 'data: evil'],
      retries: [],
    })
  })

  test('with nothing in it is an empty line', () => {
    expect(formatSse({})).toBe('\n')
  })
})

test.each([10, 100, 1_000, 4_096, 5_000])(
  'lines short and long come whole in pieces of %i characters',
  (size) => {
    const lines = [3, 4_090, 4_096, 5, 20_000, 1, 9_000].map((length, at) => `${at}`.repeat(length))
    const text = lines.map((line) => `data: ${line}\n\n`).join('')
    const frames: string[] = []
    const parser = createSseParser({ onFrame: ({ data }) => frames.push(data) })
    for (let at = 0; at < text.length; at += size) parser.feed(text.slice(at, at + size))
    expect(frames).toEqual(lines)
  },
)
