import { describe, expect, test } from 'vitest'
import { createSseParser } from '../../src/lib/sse.ts'
import { dataOf, hear } from './hear.ts'

const encoder = new TextEncoder()

describe('the end of the bytes', () => {
  test.each([
    ['data: x', 'x'],
    ['data: x\n', 'x'],
    ['data: x\r', 'x'],
    ['data: x\r\n', 'x'],
    ['id: 1\ndata: x', 'x'],
    ['data: a\ndata: x', 'a\nx'],
  ])('drops %j, which no empty line has ended, unless it is asked for', (stream, data) => {
    expect(hear(['data: y\n\n', stream]).frames).toEqual([{ data: 'y' }])
    expect(hear(['data: y\n\n', stream], { flush: true }).frames).toMatchObject([{ data: 'y' }, { data }])
  })

  test('hands out nothing twice', () => {
    for (const stream of ['data: x\n\n', 'data: x\r\r', 'data: x\r\n\r\n'])
      expect(hear([stream], { flush: true }).frames).toEqual([{ data: 'x' }])
  })

  test('hands out what a CR has ended, whatever was begun after it', () => {
    expect(dataOf('data: x\r\r')).toEqual(['x'])
    expect(dataOf('data: x\r\r', 'data: y')).toEqual(['x'])
  })

  test('does not make a number of half a number, nor a comment of half a comment', () => {
    expect(hear(['retry: 10'])).toEqual({ frames: [], comments: [], retries: [] })
    expect(hear([': hal'])).toEqual({ frames: [], comments: [], retries: [] })
  })

  test('in the middle of a character is a character that is lost', () => {
    const bytes = encoder.encode('data: 😀').slice(0, -1)
    expect(hear([bytes], { flush: true }).frames).toEqual([{ data: '\ufffd' }])
  })
})

describe('what is too long', () => {
  const long = (size: number) => `data: ${'x'.repeat(size)}`

  test('throws where nobody listens, and nothing further is parsed', () => {
    const data: string[] = []
    const parser = createSseParser({ onFrame: (frame) => data.push(frame.data), maxBuffer: 100 })
    parser.feed('data: ok\n\n')
    expect(() => parser.feed(long(200))).toThrow(RangeError)
    parser.feed('\n\ndata: after\n\n')
    parser.end({ flush: true })
    expect(data).toEqual(['ok'])
  })

  test('is told to who listens, once', () => {
    let told = 0
    const parser = createSseParser({ onFrame: () => {}, onOverflow: () => told++, maxBuffer: 100 })
    for (let n = 0; n < 50; n++) parser.feed(long(10))
    parser.feed('\n\n')
    expect(told).toBe(1)
  })

  test('may be made of many short lines, too', () => {
    let told = 0
    const parser = createSseParser({ onFrame: () => {}, onOverflow: () => told++, maxBuffer: 100 })
    for (let n = 0; n < 50; n++) parser.feed('data: 0123456789\n')
    expect(told).toBe(1)
  })

  test('is 16 million characters unless somebody says otherwise', () => {
    const data: number[] = []
    const parser = createSseParser({ onFrame: (frame) => data.push(frame.data.length) })
    for (let n = 0; n < 5; n++)
      parser.feed('x'.repeat(0).concat(n === 0 ? 'data: ' : '', 'x'.repeat(1_000_000)))
    parser.feed('\n\n')
    expect(data).toEqual([5_000_000])
    expect(() => {
      for (let n = 0; n < 17; n++) parser.feed('x'.repeat(1_000_000))
    }).toThrow(RangeError)
  })
})
