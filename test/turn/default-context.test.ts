import { describe, expect, test } from 'vitest'
import type { Recalled } from '../../src/context/recalled.ts'
import { textOf } from '../../src/message/text.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { type DefaultContextOptions, defaultContext } from '../../src/turn/default-context.ts'
import { summariseWith } from '../../src/turn/summarise-with.ts'
import { inputOf } from '../context/curve.ts'
import { turn } from '../context/sent.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

import { chatOf, first, stage } from './context-stage.ts'

test('the seeds’ strategies: messages, turns, or a summary; without a summariser, turns', async () => {
  const sent = async (options: DefaultContextOptions) =>
    first(
      (
        await defaultContext({
          window: 50,
          reserve: 0,
          estimate: { text: () => 5, message: () => 7 },
          ...options,
        })(inputOf(chatOf(9)))
      ).messages,
    )
  expect(await sent({})).toMatch(/^u/)
  expect(await sent({ strategy: 'drop_oldest_pair' })).toBe(await sent({}))
  expect(await sent({ strategy: 'drop_oldest' })).toMatch(/^a/)
  const { asked, show } = stage([], { strategy: 'drop_oldest_pair' })
  await show(chatOf(20))
  expect(asked).toEqual([])
})

describe('the window', () => {
  const long = Array.from({ length: 60 }, (_, at) => userMessage(`u${at}`, 'tide '.repeat(4_000)))

  test('is what is known of the model, less the room for its answer', async () => {
    const model = { provider: 'openai', id: 'gpt-4o' }
    const made = await defaultContext()(inputOf(long, { model }))
    expect(made.tokens).toBeLessThanOrEqual(128_000 - 4_096)
    expect(made.dropped.length).toBeGreaterThan(0)
    const wider = await defaultContext()(
      inputOf(long, { model: { ...model, capabilities: { contextWindow: 1e6 } } }),
    )
    expect(wider.dropped).toEqual([])
  })

  test('of a model that nobody knows has no limit, unless the app gives one', async () => {
    expect((await defaultContext()(inputOf(long))).dropped).toEqual([])
    expect((await defaultContext({ window: 40_000 })(inputOf(long))).tokens).toBeLessThanOrEqual(
      40_000 - 4_096,
    )
  })
})

describe('memory', () => {
  const recall =
    (found: Recalled[], asked: string[] = []) =>
    async (query: { text: string; exclude: ReadonlySet<string> }) => {
      asked.push(`${query.text} ${[...query.exclude].join()}`)
      return found
    }

  test('is asked once for each question, not for each step, and told what is sent anyway', async () => {
    const asked: string[] = []
    const context = defaultContext({
      recall: recall([{ text: 'blue', provenance: { kind: 'fact', id: 'f' } }], asked),
      turns: 2,
    })
    const messages = chatOf(3)
    expect((await context(inputOf(messages))).system).toBe('[from memory] blue')
    await context(inputOf([...messages, assistantMessage('s1')]))
    expect(asked).toEqual(['now? u2,a2,now'])
    await context(inputOf(messages))
    expect(asked).toHaveLength(2)
  })

  test('that fails is done without, and that is said', async () => {
    const context = defaultContext({
      recall: () => {
        throw new Error('no embedder')
      },
    })
    expect(await context(inputOf(chatOf(1)))).toMatchObject({
      recallError: { message: 'no embedder' },
      notes: [],
    })
  })
})

describe('a memory that misbehaves', () => {
  test('and never answers is waited for so long and no longer, also by a run that is stopped', async () => {
    const never = () => new Promise<never>(() => undefined)
    const made = await defaultContext({ recall: never, recallPatience: 1 })(inputOf(chatOf(1)))
    expect(made.recallError).toMatchObject({ code: 'timeout' })
    expect(made.messages).toHaveLength(3)
    const run = new AbortController()
    const stopped = defaultContext({ recall: never })(inputOf(chatOf(1), { signal: run.signal }))
    run.abort()
    expect((await stopped).recallError).toMatchObject({ code: 'aborted' })
  })

  test.each<[unknown]>([[undefined], [[null]], [[{ text: 1 }]], [[{ text: 'no source' }]], [{ length: 1 }]])(
    'and answers with %j is done without, and that is said',
    async (answer) => {
      const recall = async () => answer as Recalled[]
      const made = await defaultContext({ recall })(inputOf(chatOf(1)))
      expect(made.recallError).toBeDefined()
      expect(made.notes).toEqual([])
    },
  )
})

describe('a model as summariser', () => {
  const { signal } = new AbortController()

  test('reads the messages as one text, and says a summary', async () => {
    const model = scriptedModel(['In short.'])
    const calls = [{ type: 'toolCall' as const, id: 'c', name: 'clock', arguments: { at: 1 } }]
    const messages = [...turn(1), assistantMessage('s', '', { content: calls })]
    expect(await summariseWith(model)(messages, { signal })).toBe('In short.')
    const { context } = model.calls[0] ?? {}
    expect(context?.messages.map(textOf)).toEqual([
      'user: qqqqqqqqq\nassistant: aaaaaaaaa\nassistant: (calls clock {"at":1})',
    ])
    expect(context?.system).toContain('Summarise')
  })

  test('that fails throws what it failed with', async () => {
    const model = scriptedModel([[{ error: { code: 'server', message: 'down' } }]])
    await expect(summariseWith(model)(turn(1), { signal })).rejects.toMatchObject({ code: 'server' })
  })
})
