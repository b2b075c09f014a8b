import fc from 'fast-check'
import type { ScriptedModelOptions, ScriptPiece } from '../../src/testing/scripted-model.ts'
import type { Tool } from '../../src/turn/tool.ts'
import { tool } from './stage.ts'

/** A piece of a script, or a point at which nothing happens any more until the run is stopped. */
export type RandomPiece = ScriptPiece | 'stuck'

/** Halves of surrogate pairs among whole characters. */
const words = fc.string({ unit: fc.constantFrom('a', ' ', 'é', '潮', '🌊', '\ud83c', '\udf0a') })
const usage = fc.record({ input: fc.nat(99), output: fc.nat(99) }).map(({ input, output }) => ({
  usage: { input, output, cacheRead: 0, cacheWrite: 0, total: input + output },
}))

const call = fc
  .record(
    {
      id: fc.constantFrom('', 'c1', 'c2'),
      name: fc.constantFrom('soon', 'late', 'broken', 'stuck', 'absent'),
      arguments: fc.jsonValue(),
      rawArguments: fc.constantFrom('{"a":', '', '{}'),
      server: fc.constant(true),
    },
    { requiredKeys: ['name'] },
  )
  .map((toolCall) => ({ toolCall }))

const content: fc.Arbitrary<RandomPiece> = fc.oneof(
  words,
  words,
  words.map((thinking) => ({ thinking })),
  call,
  call,
  usage,
  fc.constant({ start: true as const }),
  fc.constant({ block: { type: 'source' as const, url: 'https://example.com' } }),
)

const ending: fc.Arbitrary<RandomPiece | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('length' as const, 'stop' as const).map((stop) => ({ stop })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('network', 'auth', 'aborted' as const)
      .map((error) => ({ error }) as ScriptPiece),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<RandomPiece>({ throw: new Error('boom') }, { vanish: true }, 'stuck'),
  },
)

/** What a model says in one answer. */
export const randomStep: fc.Arbitrary<RandomPiece[]> = fc
  .record({ pieces: fc.array(content, { maxLength: 5 }), end: ending })
  .map(({ pieces, end }) => (end === undefined ? pieces : [...pieces, end]))

export const modelOptions: fc.Arbitrary<ScriptedModelOptions> = fc.record({
  chunkSize: fc.constantFrom(1, 2, 3, Number.POSITIVE_INFINITY),
  deaf: fc.boolean(),
})

/** A step as a script takes it. Where it is stuck, `onStuck` is told. */
export const playable = (step: readonly RandomPiece[], onStuck: () => void): ScriptPiece[] =>
  step.map((piece) =>
    piece === 'stuck'
      ? {
          get hold() {
            onStuck()
            return new Promise<void>(() => {})
          },
        }
      : piece,
  )

/** Tools of every temper. */
export const tools = (onStuck: () => void): Tool[] => [
  tool('soon', (args) => args),
  tool('late', async (args) => {
    for (let n = 0; n < 5; n++) await undefined
    return args
  }),
  tool('broken', () => {
    throw new Error('broken')
  }),
  tool('stuck', () => {
    onStuck()
    return new Promise(() => {})
  }),
]
