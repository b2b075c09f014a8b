import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { platformEnv } from '../../src/lib/env.ts'
import { endsInHighSurrogate } from '../../src/lib/text.ts'

describe('the platform’s sleep', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const outcome = (sleeping: Promise<void>) => {
    const seen: unknown[] = []
    sleeping.then(
      () => seen.push('woken'),
      (error: unknown) => seen.push(error),
    )
    return seen
  }

  test('lasts as long as was asked', async () => {
    const seen = outcome(platformEnv.sleep(1_000))
    await vi.advanceTimersByTimeAsync(999)
    expect(seen).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(seen).toEqual(['woken'])
  })

  test.each([2 ** 31, 1e12, Number.POSITIVE_INFINITY])(
    'does not end at once when %d ms are asked for',
    async (ms) => {
      const seen = outcome(platformEnv.sleep(ms))
      await vi.advanceTimersByTimeAsync(24 * 3_600_000)
      expect(seen).toEqual([])
    },
  )

  test('ends with the reason of the signal, and leaves no timer behind', async () => {
    const control = new AbortController()
    const seen = outcome(platformEnv.sleep(1_000, control.signal))
    control.abort('enough')
    await vi.advanceTimersByTimeAsync(0)
    expect(seen).toEqual(['enough'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not begin when the signal has spoken already', async () => {
    const seen = outcome(platformEnv.sleep(1_000, AbortSignal.abort('too late')))
    await vi.advanceTimersByTimeAsync(0)
    expect(seen).toEqual(['too late'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('leaves nobody listening to a signal that outlives it', async () => {
    const control = new AbortController()
    const add = vi.spyOn(control.signal, 'addEventListener')
    const remove = vi.spyOn(control.signal, 'removeEventListener')
    for (let n = 0; n < 3; n++) {
      const seen = outcome(platformEnv.sleep(1, control.signal))
      await vi.advanceTimersByTimeAsync(1)
      expect(seen).toEqual(['woken'])
    }
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length)
  })
})

describe('the platform', () => {
  test('makes ids that are ids, all different', () => {
    const ids = Array.from({ length: 1_000 }, () => platformEnv.createId())
    expect(new Set(ids).size).toBe(1_000)
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  test('has a clock and chance', () => {
    expect(Number.isInteger(platformEnv.now())).toBe(true)
    const random = platformEnv.random()
    expect(random >= 0 && random < 1).toBe(true)
  })
})

test.each([
  ['', false],
  ['a', false],
  ['a\ud83d', true],
  ['a\udbff', true],
  ['a\ud800', true],
  ['a\udc00', false],
  ['a😀', false],
  ['\ud83da', false],
])('%j ends in half a character: %s', (text, half) => {
  expect(endsInHighSurrogate(text)).toBe(half)
})
