import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { nextStep } from '../../src/turn/next.ts'
import { assistantMessage, callingMessage, toolCall, toolMessage } from '../support/messages.ts'

const calling = callingMessage('a1', ['c1', 'c2'])
const [one, two] = [toolMessage('t1', 'c1'), toolMessage('t2', 'c2')]

/** What comes next, in two words. */
function next(trail: Message[], { stopped = false, maxSteps = 8 } = {}): string {
  const step = nextStep({ trail, stopped, maxSteps, now: 1_000 })
  if (step.type === 'runTools') return `run ${step.calls.map((call) => call.id).join(' ')}`
  if (step.type === 'wait') return `wait ${step.calls.join(' ')}`
  return step.type === 'end' ? `end ${step.outcome}` : 'call'
}

describe('after', () => {
  test.each<[string, Message[], string, string]>([
    ['nothing', [], 'call', 'call'],
    ['an answer', [assistantMessage('a1')], 'end completed', 'end completed'],
    ['an answer that failed', [assistantMessage('a1', '', { status: 'failed' })], 'end failed', 'end failed'],
    [
      'an answer that was cut off',
      [assistantMessage('a1', '', { status: 'interrupted' })],
      'end interrupted',
      'end interrupted',
    ],
    ['calls', [calling], 'run c1 c2', 'run c1 c2'],
    ['calls of an answer that failed', [{ ...calling, status: 'failed' }], 'end failed', 'end failed'],
    [
      'calls of an answer that was cut off',
      [{ ...calling, status: 'interrupted' }],
      'end interrupted',
      'end interrupted',
    ],
    ['a result out of two', [calling, two], 'run c1', 'run c1'],
    ['all results', [calling, one, two], 'call', 'end interrupted'],
    ['the answer to them', [calling, one, two, assistantMessage('a2')], 'end completed', 'end completed'],
    [
      'calls of the same ids once more',
      [calling, one, two, callingMessage('a2', ['c1'])],
      'run c1',
      'run c1',
    ],
    [
      'a call that the provider answers',
      [assistantMessage('a1', '', { content: [toolCall('c1', { server: true })] })],
      'end completed',
      'end completed',
    ],
    [
      'calls that only the content shows',
      [callingMessage('a1', ['c1'], { stopReason: 'stop' })],
      'run c1',
      'run c1',
    ],
  ])('%s', (_, trail, going, stopped) => {
    expect(next(trail)).toBe(going)
    expect(next(trail, { stopped: true })).toBe(stopped)
  })

  test('as many answers as allowed, calls are answered and the run ends', () => {
    expect(next([calling], { maxSteps: 1 })).toBe('run c1 c2')
    expect(next([calling, one, two], { maxSteps: 1 })).toBe('end completed')
    expect(next([calling, one, two], { maxSteps: 2 })).toBe('call')
  })

  test('nothing, a model is called even if no answer is allowed', () => {
    expect(next([], { maxSteps: 0 })).toBe('call')
  })
})
