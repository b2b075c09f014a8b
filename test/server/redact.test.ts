import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor, redactText } from '../../src/server/proxy/redact.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

function redact(text: string, secrets: readonly string[], cuts: readonly number[]): string {
  const bytes = bytesOf(text)
  const redactor = createRedactor(secrets)
  const decoder = new TextDecoder()
  const borders = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  let out = ''
  for (const [at, from] of borders.slice(0, -1).entries()) {
    out += decoder.decode(redactor.feed(bytes.subarray(from, borders[at + 1])), { stream: true })
  }
  return out + decoder.decode(redactor.end())
}

const secrets = ['sk-aab-aac', 'sk-aab', 'tokentoken']

test('wherever the bytes are cut, no secret passes and nothing else changes', () => {
  const part = fc.oneof(
    fc.constantFrom(...secrets, 'sk-', 'sk-aa', 'token', 'a', '-', 'ü', '😀'),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 8 }), (parts, cuts) => {
      const text = parts.join('')
      const clean = redact(text, secrets, cuts)
      expect(clean).toBe(redactText(text, secrets))
      for (const secret of secrets) expect(clean).not.toContain(secret)
      if (!secrets.some((secret) => text.includes(secret))) expect(clean).toBe(text)
    }),
    { numRuns: 500 },
  )
})

test('of two secrets of which one begins the other, the longer one goes as a whole', () => {
  expect(redactText('a sk-aab-aac z', secrets)).toBe('a [redacted] z')
  expect(redactText('a sk-aab-aaX z', secrets)).toBe('a [redacted]-aaX z')
  expect(redactText('a sk-aab-aa', secrets)).toBe('a [redacted]-aa')
})

test('what cannot become a secret is not held back', () => {
  const { feed } = createRedactor(['sk-secret'])
  expect(feed(bytesOf('data: one\n\n'))).toEqual(bytesOf('data: one\n\n'))
  expect(feed(bytesOf('ask'))).toEqual(bytesOf('ask'.slice(0, 1)))
  expect(feed(bytesOf('ed'))).toEqual(bytesOf('sked'))
})

test('without secrets the bytes are the same object', () => {
  const bytes = bytesOf('any')
  expect(createRedactor([]).feed(bytes)).toBe(bytes)
})
