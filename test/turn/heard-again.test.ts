import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Model, ModelEvent } from '../../src/adapters/contract.ts'
import type { AssistantBlock } from '../../src/message/schema.ts'
import type { MessageDelta } from '../../src/protocol/events.ts'
import { contentOf, hear, isCaughtUp, newPartial } from '../../src/turn/partial.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { outline, play } from './stage.ts'

const piece = fc.string({ unit: 'grapheme', maxLength: 4 })
const pieces = fc.array(piece, { minLength: 1, maxLength: 4 })
const written = fc.record({ type: fc.constantFrom('text', 'thinking', 'toolCall', 'source'), pieces })

/** What a model says that writes these blocks one after the other. */
const eventsOf = (blocks: readonly { type: string; pieces: string[] }[]): ModelEvent[] =>
  blocks.flatMap(({ type, pieces }, index): ModelEvent[] => {
    if (type === 'source') return [{ type, index, source: { type, url: pieces.join('') } }]
    if (type !== 'toolCall')
      return pieces.map((delta) => ({ type: type === 'text' ? 'text' : 'thinking', index, delta }))
    const start: ModelEvent = { type, phase: 'start', index, id: 'call', name: 'f' }
    return [start, ...pieces.map((delta): ModelEvent => ({ type, phase: 'delta', index, delta }))]
  })

const textOf = (block: AssistantBlock | undefined) =>
  block?.type === 'text' || block?.type === 'thinking'
    ? block.text
    : block?.type === 'toolCall'
      ? (block.rawArguments ?? '')
      : ''

function heard(events: readonly ModelEvent[], known: readonly AssistantBlock[] = []) {
  const partial = newPartial('a', known)
  const deltas = events.flatMap((event) => hear(partial, event) ?? [])
  return { partial, deltas, content: contentOf(partial) }
}

/** What a storage has of a content: the last block may have lost its end. */
const stored = (content: readonly AssistantBlock[], lost: number): AssistantBlock[] =>
  content.map((block, at) => {
    const text = [...textOf(block)]
      .slice(0, at === content.length - 1 ? -lost || undefined : undefined)
      .join('')
    if (block.type === 'text' || block.type === 'thinking') return { ...block, text }
    return block.type === 'toolCall' && text !== '' ? { ...block, rawArguments: text } : block
  })

/** What a reader sees who had `known` and is told the rest. Throws where a delta does not fit. */
function seen(known: readonly AssistantBlock[], deltas: readonly MessageDelta[]): string[] {
  const texts = known.map(textOf)
  for (const { index, offset, delta } of deltas) {
    expect(offset).toBe((texts[index] ?? '').length)
    texts[index] = (texts[index] ?? '') + delta
  }
  return texts
}

describe('an answer that is heard again', () => {
  test('is told from where it was known, each character once, wherever that ended', () => {
    fc.assert(
      fc.property(fc.array(written, { maxLength: 4 }), fc.nat(20), fc.nat(6), (blocks, events, lost) => {
        const all = eventsOf(blocks)
        const known = stored(heard(all.slice(0, events)).content, lost)
        const again = heard(all, known)
        expect(again.partial.torn).toBe(false)
        expect(isCaughtUp(again.partial)).toBe(true)
        expect(again.content).toEqual(heard(all).content)
        expect(seen(known, again.deltas)).toEqual(again.content.map(textOf))
      }),
    )
  })

  test('keeps all that was known, however early it breaks off', () => {
    fc.assert(
      fc.property(fc.array(written, { maxLength: 4 }), fc.nat(20), fc.nat(20), (blocks, events, early) => {
        const all = eventsOf(blocks)
        const known = heard(all.slice(0, events)).content
        const again = heard(all.slice(0, Math.min(early, events)), known)
        expect(again.content.map(textOf)).toEqual(known.map(textOf))
        expect(again.deltas).toEqual([])
      }),
    )
  })

  test('that says something else than before replaces it, and says so', () => {
    const known: AssistantBlock[] = [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Once upon a time' },
      { type: 'toolCall', id: 'c', name: 'f' },
    ]
    const thinks: ModelEvent = { type: 'thinking', index: 0, delta: 'hm' }
    const other = heard([thinks, { type: 'text', index: 1, delta: 'Once more' }], known)
    expect(other.partial.torn).toBe(true)
    expect(other.content).toEqual([known[0], { type: 'text', text: 'Once more' }])
    const [call] = eventsOf([{ type: 'toolCall', pieces: ['{}'] }])
    const kind = heard(call ? [call] : [], known)
    expect(kind.partial.torn).toBe(true)
    expect(kind.content).toEqual([{ type: 'toolCall', id: 'call', name: 'f' }])
  })
})

describe('a run that goes on with an answer', () => {
  const heardAgain = (events: readonly ModelEvent[]): Model => ({
    provider: 'p',
    id: 'm',
    stream: () => {
      throw new Error('not to be asked')
    },
    async *resume(responseId) {
      yield { type: 'start', responseId }
      yield* events
    },
  })
  const history = [userMessage('u1', 'Tell me')]
  const resumed = assistantMessage('a1', 'Once upon', {
    status: 'interrupted',
    responseId: 'resp_1',
  })
  const say = (delta: string): ModelEvent => ({ type: 'text', index: 0, delta })
  const done = (text: string): ModelEvent => ({
    type: 'done',
    reason: 'stop',
    message: { role: 'assistant', content: [{ type: 'text', text }], provider: 'p', stopReason: 'stop' },
  })

  test('tells what is new of it', async () => {
    const whole = 'Once upon a time'
    const { log, outcome } = await play({ model: heardAgain([say(whole), done(whole)]), history, resumed })
    expect(outline(log.events)).toEqual(['run.started', 'started', 'delta', 'completed', 'run.finished'])
    expect(log.events[2]).toMatchObject({ id: 'a1', offset: 9, delta: ' a time' })
    expect(outcome).toBe('completed')
  })

  test('tells it anew where it is another text', async () => {
    const { log } = await play({
      model: heardAgain([say('Once'), say(' more'), done('Once more')]),
      history,
      resumed,
    })
    expect(outline(log.events)).toEqual(['run.started', 'started', 'updated', 'completed', 'run.finished'])
    expect(log.events[2]).toMatchObject({ message: { id: 'a1', content: [{ text: 'Once more' }] } })
  })

  test('keeps what was known where it breaks off sooner', async () => {
    const error = { code: 'server', message: 'overloaded' } as const
    const message = { role: 'assistant', content: [{ type: 'text', text: 'Once' }], provider: 'p' } as const
    const broken: ModelEvent = {
      type: 'error',
      reason: 'error',
      error,
      message: { ...message, content: [...message.content] },
    }
    const { log } = await play({ model: heardAgain([say('Once'), broken]), history, resumed })
    expect(log.events.at(-2)).toMatchObject({
      type: 'message.failed',
      message: { content: [{ text: 'Once upon' }] },
    })
  })

  test('fails where the model keeps no answers', async () => {
    const { resume: _, ...model } = heardAgain([])
    expect((await play({ model, history, resumed })).outcome).toBe('failed')
  })
})
