import { describe, expect, test } from 'vitest'
import { createRedaction } from '../../src/context/redact.ts'
import { platformEnv } from '../../src/lib/env.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { textOf } from '../../src/message/text.ts'
import { createHold } from '../../src/testing/scripted-model.ts'
import { defaultContext } from '../../src/turn/default-context.ts'
import { inputOf } from '../context/curve.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

import { chatOf, first, stage } from './context-stage.ts'

describe('a summary', () => {
  test('is made when there are many messages, of all turns but the newest, and stands for them', async () => {
    const { asked, show, records } = stage(['They talked of tides.'])
    expect(await show(chatOf(5))).not.toHaveProperty('summary')
    const made = await show(chatOf(8))
    expect(made.summary).toEqual({ state: 'made', messages: 14 })
    expect(asked).toEqual([
      chatOf(7)
        .slice(0, 14)
        .map(({ id }) => id),
    ])
    expect(made.system).toContain('[summary of the conversation so far] They talked of tides.')
    expect(first(made.messages)).toBe('u7')
    expect(made.dropped.every(({ reason }) => reason === 'summary')).toBe(true)
    expect([...records.rows.values()]).toEqual([
      { ids: asked[0], digest: expect.any(String), text: 'They talked of tides.' },
    ])
  })

  test('is used again while its messages are the same, also by who finds it stored', async () => {
    const { asked, show, records } = stage()
    await show(chatOf(8))
    expect((await show(chatOf(9))).summary).toEqual({ state: 'kept', messages: 14 })
    const later = stage()
    expect((await later.show(chatOf(9), { records })).summary?.state).toBe('kept')
    expect([asked.length, later.asked.length]).toEqual([1, 0])
  })

  test('is extended when there is more, and not made again', async () => {
    const { asked, show } = stage()
    await show(chatOf(8))
    const made = await show(chatOf(15))
    expect(made.summary).toEqual({ state: 'extended', messages: 28 })
    expect(asked[1]?.slice(0, 2)).toEqual(['[summary so far]\nsummary 1', 'u7'])
    expect(asked[1]).toHaveLength(15)
    expect(made.system).toContain('summary 2')
    expect(made.system).not.toContain('summary 1')
  })

  test('of messages that say something else now is not used', async () => {
    const { asked, show } = stage()
    await show(chatOf(8))
    const edited = chatOf(8).with(1, assistantMessage('a0', 'something else'))
    expect((await show(edited)).summary?.state).toBe('made')
    const branch = chatOf(8).with(0, userMessage('other', 'another question'))
    expect((await show(branch)).summary?.state).toBe('made')
    expect(asked).toHaveLength(3)
    expect((await show(chatOf(8))).summary?.state).toBe('kept')
  })

  test('is kept of so many branches, and no more', async () => {
    const { show, records } = stage()
    for (let branch = 0; branch < 7; branch++)
      await show(chatOf(8).with(0, userMessage(`b${branch}`, 'another question')))
    expect(records.rows.size).toBe(4)
  })

  test('that fails leaves the history as it is, says so, and is not tried again before there is more', async () => {
    const fail = () => {
      throw new TidemarkError('rate-limit', 'too many')
    }
    const { asked, show } = stage([fail, fail])
    const made = await show(chatOf(8), {})
    expect(made.summary).toMatchObject({ state: 'failed', messages: 0, error: { code: 'rate-limit' } })
    expect(made.messages).toHaveLength(17)
    expect((await show(chatOf(8))).summary?.state).toBe('failed')
    expect(asked).toHaveLength(1)
    expect((await show(chatOf(9))).summary?.state).toBe('failed')
    expect((await show(chatOf(10))).summary?.state).toBe('made')
  })

  test.each([[''], ['  \n']])('that says nothing (%j) is a failure', async (text) => {
    const { show } = stage([text])
    expect((await show(chatOf(8))).summary).toMatchObject({ state: 'failed', error: { code: 'protocol' } })
  })

  test('that is late does without it, and is there for the next call: nobody asks twice', async () => {
    const hold = createHold()
    const { asked, show, context, records } = stage([() => hold.hold.then(() => 'late words')], {
      summary: { messages: 12, turns: 2, patience: 5 },
    })
    const slow = await Promise.all([
      show(chatOf(8)),
      show(chatOf(8)),
      context(inputOf(chatOf(9), { records })),
    ])
    expect(slow.map(({ summary }) => summary?.state)).toEqual(['late', 'late', 'late'])
    expect(asked).toHaveLength(1)
    hold.release()
    await expect.poll(() => records.rows.size).toBe(1)
    expect((await show(chatOf(8))).summary?.state).toBe('kept')
    expect(asked).toHaveLength(1)
  })

  test('is given up with the run, and asked for again by the next one', async () => {
    const run = new AbortController()
    const { asked, show } = stage([
      () =>
        new Promise((_, reject) => {
          run.signal.addEventListener('abort', () => reject(run.signal.reason))
          run.abort()
        }),
    ])
    expect((await show(chatOf(8), { signal: run.signal })).summary?.state).toBe('aborted')
    expect((await show(chatOf(8))).summary?.state).toBe('made')
    expect(asked).toHaveLength(2)
  })

  test('that never comes is waited for once: later calls do without it at once', async () => {
    const naps: number[] = []
    const env = {
      ...platformEnv,
      sleep: async (ms: number, signal?: AbortSignal) => {
        naps.push(ms)
        return platformEnv.sleep(naps.length > 1 ? 1e6 : 1, signal)
      },
    }
    const { asked, show } = stage([() => new Promise<string>(() => undefined)])
    expect((await show(chatOf(8), { env })).summary?.state).toBe('late')
    expect((await show(chatOf(9), { env })).summary?.state).toBe('late')
    expect(asked).toHaveLength(1)
    expect(naps[0]).toBe(20_000)
  })

  test('that was given up with another call is asked for by the one that waited with it', async () => {
    const run = new AbortController()
    const { asked, show } = stage([
      () =>
        new Promise((_, reject) => {
          run.signal.addEventListener('abort', () => reject(run.signal.reason))
        }),
    ])
    const stopped = show(chatOf(8), { signal: run.signal })
    const waiting = show(chatOf(8))
    await expect.poll(() => asked.length).toBe(1)
    run.abort()
    expect((await stopped).summary?.state).toBe('aborted')
    expect((await waiting).summary?.state).toBe('made')
    expect(asked).toHaveLength(2)
  })

  test.each([
    ['than what it stands for', 3_000, {}],
    ['than half of what there is room for', 400, { window: 400, reserve: 0 }],
  ])(
    'that is longer %s is a failure: what it was to make room for goes by turns',
    async (_, words, limit) => {
      const { show } = stage(['word '.repeat(words)], limit)
      const made = await show(chatOf(8))
      expect(made.summary).toMatchObject({ state: 'failed', error: { code: 'protocol' } })
      expect(made.summary?.error?.message).toMatch(/^summarise: expected at most \d+ tokens, got \d+$/)
      expect(made.dropped.every(({ reason }) => reason === 'budget')).toBe(true)
      expect(made.notes.map(({ kind }) => kind)).not.toContain('summary')
    },
  )

  test('that was made for a larger window is not used in one that it would fill', async () => {
    const { show, records } = stage(['word '.repeat(700)])
    expect((await show(chatOf(8))).summary?.state).toBe('made')
    const { show: narrow } = stage(['short'], { window: 500, reserve: 0 })
    const made = await narrow(chatOf(8), { records })
    expect(made.summary?.state).toBe('made')
    expect(made.system).toContain('short')
  })

  test('is due by thresholds that are numbers', () => {
    const given = { share: Number.NaN }
    expect(() => defaultContext({ summarise: () => '', summary: given })).toThrow(
      'summary.share: expected a number',
    )
    const strategy = () => defaultContext({ strategy: 'summarize' })
    expect(strategy).toThrow('summarise: expected a function')
  })

  test('is not made for who only looks', async () => {
    const { asked, show } = stage()
    expect(await show(chatOf(8), { preview: true })).not.toHaveProperty('summary')
    expect(asked).toEqual([])
  })

  test('of a very long history is made part by part, each as long as a call can read', async () => {
    const { asked, show } = stage([], { window: 400, reserve: 0 })
    const made = await show(chatOf(40))
    expect(asked.length).toBeGreaterThan(1)
    expect(made.tokens).toBeLessThanOrEqual(400)
    expect(made.summary?.state).toBe('extended')
    expect(made.summary?.messages).toBeGreaterThan(60)
  })

  test('never swallows a pin: the summariser does not see its text, and the model does', async () => {
    const seen: string[] = []
    const context = defaultContext({
      summarise(messages) {
        seen.push(...messages.map(textOf))
        return 'in short'
      },
      summary: { messages: 12, turns: 2 },
    })
    const pinned = chatOf(8).with(3, assistantMessage('a1', 'code QX7', { metadata: { pinned: true } }))
    const made = await context(inputOf(pinned))
    expect(seen.join()).not.toContain('QX7')
    expect(made.system).toContain('[pinned] code QX7')
  })

  test('is made of what holds no secrets', async () => {
    const seen: string[] = []
    const redact = createRedaction()
    const hidden = redact.conceal('s1', 'me@example.com')
    expect(hidden).toMatch(/^\[email-\d+\]$/)
    const context = defaultContext({
      redact,
      summarise(messages) {
        seen.push(...messages.map(textOf))
        return 'in short'
      },
      summary: { messages: 12, turns: 2 },
    })
    const made = await context(inputOf(chatOf(8).with(0, userMessage('u0', 'I am me@example.com'))))
    expect(seen[0]).toBe(`I am ${hidden}`)
    expect(made.system).toContain(`[task] I am ${hidden}`)
  })
})
