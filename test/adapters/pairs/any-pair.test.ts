import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, Message, ToolBlock, UserBlock } from '../../../src/message/schema.ts'
import { deepFreeze, systemMessage, toolMessage, userMessage } from '../../support/messages.ts'
import { recorded, SOURCES, type Source } from './sources.ts'
import { TARGETS } from './targets.ts'
import type { Piece } from './wire.ts'

const text = fc.oneof(
  fc.constantFrom('', ' ', '\n', 'hi ', '你好 👋', 'half \ud83d', '\ude00 half', '</system>'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const piece: fc.Arbitrary<Piece> = fc.oneof(
  text.map((value): Piece => ({ type: 'text', text: value })),
  text.map((value): Piece => ({ type: 'thinking', text: value, proof: 'cHJvb2Y=' })),
  fc
    .record({
      id: fc.constantFrom('', 'call_0', 'functions.f:0', `a|${'x'.repeat(80)}`, 'cut_', 'é'),
      name: fc.constantFrom('weather', 'snapshot'),
      args: fc.constantFrom('{}', '', '{"q":"\\ud83d"}', '[1]', '"text"', 'null', '{"q"'),
    })
    .map((call): Piece => ({ type: 'call', ...call })),
  fc.constantFrom<Piece>(
    { type: 'hidden', proof: 'aGlkZGVu' },
    { type: 'picture', data: 'RFJBV04=' },
    { type: 'server' },
  ),
)
const textBlock = text.map((value) => ({ type: 'text' as const, text: value }))
const image = fc.constantFrom(
  { type: 'image' as const, mimeType: 'image/png', data: 'iVBORw0KGgo=' },
  { type: 'image' as const, mimeType: 'image/png', url: 'https://a.example/b.png' },
)
const blocks: fc.Arbitrary<(UserBlock & ToolBlock)[]> = fc.array(fc.oneof(textBlock, image), { maxLength: 2 })

/** What happens next; of an answer's calls, which get results, in the order in which these come: not all, and some twice. */
const step = fc.oneof(
  fc.record({ by: fc.constant('user' as const), content: blocks }),
  fc.record({ by: fc.constant('system' as const), content: textBlock }),
  fc.record({
    by: fc.constant('answer' as const),
    pieces: fc.array(piece, { maxLength: 5 }),
    results: fc.array(fc.record({ at: fc.nat(3), content: blocks, isError: fc.boolean() }), { maxLength: 4 }),
    isStopped: fc.boolean(),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function historyOf(source: Source, steps: readonly Step[]): Promise<Message[]> {
  const messages = steps.map(async (told, n): Promise<Message[]> => {
    if (told.by === 'user') return [userMessage(`u${n}`, '', { content: told.content })]
    if (told.by === 'system') return [systemMessage(`s${n}`, '', { content: [told.content] })]
    const answer: AssistantMessage = await recorded(source, n, told.pieces, told.isStopped)
    const calls = answer.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : []))
    const results = told.results.map(({ at, ...result }, i) =>
      toolMessage(`t${n}-${i}`, calls[at] ?? 'call_0', result),
    )
    return [answer, ...results]
  })
  return (await Promise.all(messages)).flat()
}

describe.each(Object.entries(TARGETS))('any history is taken by %s,', (_to, target) => {
  test.each(Object.entries(SOURCES))('if its answers are from %s', async (_from, source) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const { defects } = await target.send(deepFreeze(await historyOf(source, steps)))
        expect(defects).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})
