import fc from 'fast-check'
import { expect, test } from 'vitest'
import { traceOf, traceparentAfter } from '../../src/lib/trace.ts'

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'

test('a trace is continued: its id and its flags stay, the step is a new one', () => {
  const next = traceparentAfter(parent, () => 0.5)
  expect(next).toBe('00-0af7651916cd43dd8448eb211c80319c-8000000080000000-00')
  expect(traceOf(next)).toEqual({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: '8000000080000000',
  })
})

test('a version to come may say more', () => {
  const next = traceparentAfter(`01${parent.slice(2)}-more`, () => 0)
  expect(next).toBe('00-0af7651916cd43dd8448eb211c80319c-0000000100000001-00')
})

test.each([
  ['nothing', undefined],
  ['an empty one', ''],
  ['a trace of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
  ['a step of zeros', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
  ['capitals', parent.toUpperCase()],
  ['version ff', `ff${parent.slice(2)}`],
  ['something before it', ` ${parent}`],
  ['flags that go on', `${parent}1`],
  ['a header twice', `${parent}, ${parent}`],
])('%s is no trace: a new one begins, and is sampled', (_, given) => {
  expect(traceOf(given)).toBeUndefined()
  expect(traceparentAfter(given, () => 0)).toBe(`00-${'00000001'.repeat(4)}-${'00000001'.repeat(2)}-01`)
})

test('whatever chance says, what is made is valid', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(fc.array(chance, { minLength: 1 }), (numbers) => {
      let at = 0
      const made = traceparentAfter(undefined, () => numbers[at++ % numbers.length] ?? 0)
      expect(made).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
      expect(traceOf(made)).toBeDefined()
    }),
  )
})
