import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { imageSizeOf } from '../../src/context/image-size.ts'
import { mediaTokens } from '../../src/context/media.ts'

const base64 = (bytes: readonly number[]): string =>
  Buffer.from([...bytes, ...new Array(40).fill(0)]).toString('base64')
const big = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, at) => (value >>> (8 * (bytes - 1 - at))) & 255)
const little = (value: number, bytes: number): number[] => big(value, bytes).reverse()
const ascii = (text: string): number[] => [...Buffer.from(text)]

const png = (width: number, height: number): string =>
  base64([
    0x89,
    ...ascii('PNG\r\n\x1a\n'),
    ...big(13, 4),
    ...ascii('IHDR'),
    ...big(width, 4),
    ...big(height, 4),
  ])
const gif = (width: number, height: number): string =>
  base64([...ascii('GIF89a'), ...little(width, 2), ...little(height, 2)])
/** With a segment of 300 bytes before its frame, as cameras write it. */
const jpeg = (width: number, height: number): string =>
  base64([
    ...[0xff, 0xd8, 0xff, 0xe1],
    ...big(300, 2),
    ...new Array(298).fill(0xc0),
    ...[0xff, 0xc2],
    ...big(17, 2),
    8,
    ...big(height, 2),
    ...big(width, 2),
  ])
const riff = (kind: string, rest: readonly number[]): string =>
  base64([...ascii('RIFF'), ...little(100, 4), ...ascii('WEBP'), ...ascii(kind), ...little(50, 4), ...rest])
const lossy = (width: number, height: number): string =>
  riff('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)])
const lossless = (width: number, height: number): string =>
  riff('VP8L', [0x2f, ...little(((width - 1) | ((height - 1) << 14)) >>> 0, 4)])
const extended = (width: number, height: number): string =>
  riff('VP8X', [0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)])

describe('the size of a picture is read from its header', () => {
  test.each([
    ['PNG', png],
    ['GIF', gif],
    ['JPEG', jpeg],
    ['WebP, lossy', lossy],
    ['WebP, lossless', lossless],
    ['WebP, extended', extended],
  ])('%s', (_, write) => {
    const side = fc.integer({ min: 1, max: 16_000 })
    fc.assert(
      fc.property(side, side, (width, height) => {
        expect(imageSizeOf(write(width, height))).toEqual({ width, height })
      }),
    )
  })

  test('and of what is none, there is none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (data) => {
        expect(imageSizeOf(data)).toBeUndefined()
      }),
    )
    expect(imageSizeOf(jpeg(10, 10).slice(0, 80))).toBeUndefined()
  })
})

describe('a picture costs what its provider says', () => {
  test.each([
    ['o200k', 1_024, 1_024, 765],
    ['o200k', 2_048, 4_096, 1_105],
    ['o200k', 512, 512, 255],
    ['claude', 1_000, 1_000, 1_334],
    ['claude', 200, 200, 54],
    ['claude', 6_000, 6_000, 1_600],
    ['gemini', 384, 384, 258],
    ['gemini', 960, 540, 1_548],
    ['mistral', 1_024, 1_024, 4_160],
  ] as const)('to %s, %i × %i costs %i', (family, width, height, tokens) => {
    expect(mediaTokens({ type: 'image', mimeType: 'image/png', data: png(width, height) }, family)).toBe(
      tokens,
    )
  })

  test('that is only linked is taken for a usual one', () => {
    expect(
      mediaTokens({ type: 'image', mimeType: 'image/png', url: 'https://example.com/a.png' }, 'o200k'),
    ).toBe(765)
  })
})

describe('a document', () => {
  const pdf = (pages: number): string =>
    Buffer.from(`%PDF-1.4 /Type /Pages ${'<< /Type /Page >> '.repeat(pages)}`).toString('base64')

  test('costs its pages', () => {
    expect(mediaTokens({ type: 'file', mimeType: 'application/pdf', data: pdf(7) }, 'gemini')).toBe(7 * 258)
    expect(mediaTokens({ type: 'file', mimeType: 'application/pdf', url: 'x' }, 'gemini')).toBe(258)
  })

  test('whose pages cannot be counted costs by its length', () => {
    const data = Buffer.alloc(500_000).toString('base64')
    expect(mediaTokens({ type: 'file', mimeType: 'application/pdf', data }, 'gemini')).toBe(10 * 258)
    expect(mediaTokens({ type: 'file', mimeType: 'application/pdf', data: '§' }, 'gemini')).toBe(258)
  })
})
