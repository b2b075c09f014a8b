import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { roughly } from '../../src/context/rough.ts'
import type { ToolMessage } from '../../src/message/schema.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { cut } from '../../src/turn/cut.ts'
import type { Tool, ToolOptions } from '../../src/turn/tool.ts'
import { createWorld } from '../chat/world.ts'
import { play, tool } from './stage.ts'

const { text: tokensOf } = roughly

/** The message that holds the result of the only call. */
async function resultOf(given: Tool, more: Partial<Parameters<typeof play>[0]> = {}): Promise<ToolMessage> {
  const model = scriptedModel([[{ toolCall: { name: given.spec.name, arguments: {} } }], 'I see.'])
  const { messages } = await play({ model, tools: [given], ...more })
  const [, result] = messages
  if (result?.role !== 'tool') throw new Error('no result')
  return result
}
const textIn = ({ content }: ToolMessage) => (content[0]?.type === 'text' ? content[0].text : '')

describe('a text that is too long', () => {
  test.each([
    ['between lines', 'one two three four\nfive six', 6, 'one two three four\n'],
    ['between sentences', 'One two three four. Five six', 6, 'One two three four. '],
    ['between words', 'one two three four five six', 6, 'one two three four '],
    ['anywhere, where there is no border', 'abcdefghijklmnop', 2, 'abcdefg'],
    ['never within a character', '🌊🌊🌊', 2, '🌊'],
    ['nowhere, where it fits', 'one two', 2, 'one two'],
  ])('is cut %s', (_, text, tokens, expected) => expect(cut(text, tokens)).toBe(expected))

  test('is a beginning that fits, and most of what would', () => {
    const words = fc.string({
      unit: fc.constantFrom('a', 'bcd', ' ', '\n', '.', 'é', '潮', '🌊'),
      maxLength: 400,
    })
    fc.assert(
      fc.property(words, fc.nat(80), (text, tokens) => {
        const kept = cut(text, tokens)
        expect(text.startsWith(kept)).toBe(true)
        expect(tokensOf(kept)).toBeLessThanOrEqual(tokens)
        expect(kept).not.toMatch(/\p{Surrogate}/u)
        if (kept !== text) expect(tokensOf(kept)).toBeGreaterThanOrEqual(Math.floor(tokens * 0.5) - 2)
      }),
    )
  })
})

describe('a result that is too long', () => {
  test('is cut for the model, which is told so, and whole for everybody else', async () => {
    const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n}`).join('\n')
    const result = await resultOf(tool('read', () => lines))
    const told = JSON.parse(textIn(result))
    expect(lines.startsWith(told.data)).toBe(true)
    expect(told.data.endsWith('\n')).toBe(true)
    expect(told.cut).toBe(`these are the first ${told.data.length} of ${lines.length} characters`)
    expect(tokensOf(told.data)).toBeLessThanOrEqual(2_000)
    expect(tokensOf(told.data)).toBeGreaterThan(1_900)
    expect(result.details).toBe(lines)
  })

  test('and is no text is told as the beginning of its JSON', async () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ n }))
    const result = await resultOf(tool('list', () => rows, { maxTokens: 20 }))
    const told = JSON.parse(textIn(result))
    expect(JSON.stringify(rows).startsWith(told.data)).toBe(true)
    expect(tokensOf(told.data)).toBeLessThanOrEqual(20)
    expect(result.details).toEqual(rows)
  })

  test('and an error is cut likewise', async () => {
    const broken = tool('broken', () => {
      throw new Error('long '.repeat(9_000))
    })
    const result = await resultOf(broken)
    expect(result.isError).toBe(true)
    expect(textIn(result).length).toBeLessThan(9_000)
    expect(String(result.details)).toHaveLength(45_000)
  })

  test('stays whole where it just fits, without details', async () => {
    const result = await resultOf(tool('short', () => 'abc', { maxTokens: 1 }))
    expect(textIn(result)).toBe('{"ok":true,"data":"abc"}')
    expect(result).not.toHaveProperty('details')
  })
})

describe('a tool that does not answer', () => {
  test.each([
    ['within its own time', { timeout: 500 }, 500],
    ['within a minute', {}, 60_000],
  ])('%s is an error for the model, and is told to stop', async (_, more, ms) => {
    const { env, pass, ended } = createWorld()
    let signal = new AbortController().signal
    const hang: ToolOptions['execute'] = (_, context) => {
      signal = context.signal
      return new Promise(() => {})
    }
    const result = resultOf(tool('hung', hang, more), { env })
    await pass(ms - 1)
    expect(signal.aborted).toBe(false)
    await pass(1)
    const message = await ended(result)
    expect(signal.reason).toMatchObject({ code: 'timeout' })
    expect(JSON.parse(textIn(message)).error).toBe(
      `the tool did not answer within ${ms} ms; it may have had its effect`,
    )
  })

  test('leaves no timer behind when it does', async () => {
    const world = createWorld()
    await world.ended(
      resultOf(
        tool('quick', () => 1),
        { env: world.env },
      ),
    )
    expect(world.sleeping()).toBe(0)
  })

  test('does not keep the others from answering', async () => {
    const { env, ended } = createWorld()
    const tools = [tool('hung', () => new Promise(() => {}), { timeout: 10 }), tool('quick', () => 1)]
    const calls = tools.map(({ spec }) => ({ toolCall: { name: spec.name, arguments: {} } }))
    const { messages } = await ended(play({ model: scriptedModel([calls, 'I see.']), tools, env }))
    expect(messages.slice(1, 3).map((message) => message.role === 'tool' && message.isError)).toEqual([
      true,
      false,
    ])
  })
})

test('a call has a key of its own, also where a provider repeats its ids', async () => {
  const keys: string[] = []
  const spy = tool('spy', (_, { key }) => keys.push(key))
  const call = { toolCall: { id: 'c1', name: 'spy', arguments: {} } }
  await play({ model: scriptedModel([['Once.', call, call], [call], 'Done.']), tools: [spy] })
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(3)
})
