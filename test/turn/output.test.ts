import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { SendOptions } from '../../src/chat/types.ts'
import { liveOutput, readOutput } from '../../src/message/output.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { createHold, type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { structured } from '../../src/turn/structured.ts'
import { tool } from '../../src/turn/tool.ts'
import { ending } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { userMessage } from '../support/messages.ts'
import { calling, SCENES } from './scenes.ts'
import { outline, play } from './stage.ts'

noStrayRejections()

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const Person = z.object({ name: z.string(), age: z.number() })
const asked = { schema: Person, jsonSchema: z.toJSONSchema(Person) }
const ada = '{"name":"Ada","age":36}'
const old = '{"name":"Ada","age":"36"}'

const asking = (output: { repair?: boolean } = {}) => [
  { ...userMessage('u1', 'Who was the first?'), output: { schema, ...output } },
]

describe('an answer that is to have a shape', () => {
  test.each<[string, ScriptStep]>([
    ['JSON that fits', ada],
    ['the same in a fence', `\`\`\`json\n${ada}\n\`\`\``],
    ['the same after words', `Here it is: ${ada}`],
    ['the same after thoughts', [{ thinking: 'hm {' }, ada]],
  ])('is completed where the model says %s', async (_, step) => {
    const model = scriptedModel([step])
    const { outcome, messages, folded } = await play({ structured, model, history: asking() })
    expect(outcome).toBe('completed')
    expect(folded.problems).toEqual([])
    expect(model.calls[0]?.options.output).toEqual({ schema })
    const [message] = messages
    if (message) await expect(readOutput(message, schema)).resolves.toEqual({ name: 'Ada', age: 36 })
  })

  test.each<[string, ScriptStep, RegExp]>([
    ['another value', old, /^age: expected number$/],
    ['words', 'It was Ada.', /^it is no JSON: /],
    ['nothing', [], /^there is no JSON in it$/],
    ['half of it', [ada.slice(0, 9), { stop: 'length' }], /^it was cut off, there being no room for more: /],
  ])('fails where the model says %s, its text kept', async (_, step, words) => {
    const { outcome, messages, log } = await play({
      structured,
      model: scriptedModel([step]),
      history: asking(),
    })
    expect(outcome).toBe('failed')
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({
      status: 'failed',
      error: { code: 'invalid-output', message: expect.stringMatching(words) },
    })
    const said = typeof step === 'string' ? step : step.filter((piece) => typeof piece === 'string').join('')
    expect(messages[0] && textOf(messages[0])).toBe(said)
    expect(outline(log.events).slice(-2)).toEqual(['failed', 'run.finished'])
    if (messages[0]) expect(await ending(readOutput(messages[0], schema))).toBe('invalid-output')
  })

  test('is asked for only where it can be judged', async () => {
    const model = scriptedModel([ada])
    const { messages } = await play({ model, history: asking() })
    expect(messages[0]?.error).toMatchObject({
      code: 'invalid-request',
      message: expect.stringMatching(/^structured: /),
    })
    expect(model.calls).toEqual([])
  })

  test('may call tools first', async () => {
    const clock = tool({ name: 'clock', parameters: {}, execute: () => 'noon' })
    const model = scriptedModel([['Let me see.', ...calling(['clock'])], ada])
    const { outcome, messages } = await play({ structured, model, tools: [clock], history: asking() })
    expect(outcome).toBe('completed')
    expect(messages.map(({ role, status }) => `${role} ${status}`)).toEqual([
      'assistant completed',
      'tool completed',
      'assistant completed',
    ])
  })
})

describe('the round of repair', () => {
  test('shows the model what was wrong, and begins the answer anew', async () => {
    const model = scriptedModel([
      [old, { usage: { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, total: 7 } }],
      ada,
    ])
    const { outcome, messages, folded, log } = await play({
      structured,
      model,
      history: asking({ repair: true }),
    })
    expect(outcome).toBe('completed')
    expect(folded.problems).toEqual([])
    expect(messages.map((message) => textOf(message))).toEqual([ada])
    expect(outline(log.events)).toEqual([
      'run.started',
      'created',
      'started',
      'delta',
      'updated',
      'delta',
      'completed',
      'run.finished',
    ])
    const shown = model.calls[1]?.context.messages ?? []
    expect(shown.map((message) => `${message.role}: ${textOf(message)}`)).toEqual([
      'user: Who was the first?',
      `assistant: ${old}`,
      'user: This answer does not fit what was asked for: age: expected number. Answer again with JSON that fits, and nothing else.',
    ])
  })

  test('is made once', async () => {
    const model = scriptedModel([old, 'Ada', ada])
    const { outcome, messages } = await play({ structured, model, history: asking({ repair: true }) })
    expect(outcome).toBe('failed')
    expect(model.calls).toHaveLength(2)
    expect(messages[0] && textOf(messages[0])).toBe('Ada')
  })

  test('is not made for what was cut off, since it would be again', async () => {
    const model = scriptedModel([['{"na', { stop: 'length' }], ada])
    expect((await play({ structured, model, history: asking({ repair: true }) })).outcome).toBe('failed')
    expect(model.calls).toHaveLength(1)
  })

  test('may be stopped', async () => {
    const stop = new AbortController()
    const model = scriptedModel((_, call) => {
      if (call === 1) stop.abort()
      return call === 1 ? [{ stall: true }] : old
    })
    const { outcome, messages } = await play({
      structured,
      model,
      history: asking({ repair: true }),
      signal: stop.signal,
    })
    expect(outcome).toBe('interrupted')
    expect(messages[0]).toMatchObject({ status: 'interrupted', content: [] })
  })
})

describe.each(SCENES)('over %s', (_, open) => {
  const send = (scene: ReturnType<typeof open>, output: SendOptions['output']) =>
    scene.session.send('Who?', output ? { output } : {})

  test('the value is live while it is written, and whole in the end', async () => {
    const { hold, release } = createHold()
    const scene = open({ steps: [['{"name":"Ad', { hold }, 'a","age":36}']], tools: () => [] })
    const sent = await send(scene, asked)
    const idOf = () => scene.session.get().messages.at(-1)?.id ?? ''
    await scene.until(() => scene.session.get().messages.some((message) => textOf(message).includes('Ad')))
    const live = liveOutput<z.infer<typeof Person>>(scene.session.message(idOf()))
    expect(live.get().value).toEqual({ name: 'Ad' })
    const seen = live.get()
    expect(live.get()).toBe(seen)
    release()
    await scene.until(() => live.get().value?.age === 36)
    expect(live.get()).not.toBe(seen)
    const answer = await sent.answer
    expect((await readOutput(answer, Person)).age).toBe(36)
  })

  test('what was wrong with it is told, also after a reload', async () => {
    const scene = open({ steps: [old], tools: () => [] })
    const sent = await send(scene, asked)
    let answer: Message | undefined
    void sent.answer.then((message) => {
      answer = message
    })
    await scene.until(() => answer !== undefined)
    expect(answer).toMatchObject({ status: 'failed', error: { code: 'invalid-output' } })
    await scene.reload()
    await scene.until(() => scene.session.get().messages.length === 2)
    const [question, kept] = scene.session.get().messages
    expect(question).toMatchObject({ output: { schema: { required: ['name', 'age'] } } })
    if (kept) expect(await ending(readOutput(kept, Person))).toBe('invalid-output')
    expect(kept && textOf(kept)).toBe(old)
  })

  test('an answer that is repaired is shown from its new beginning', async () => {
    const { hold, release } = createHold()
    const steps = (question: string) =>
      question.includes('does not fit') ? [ada.slice(0, 12), { hold }, ada.slice(12)] : old
    const scene = open({ steps, tools: () => [] })
    await send(scene, { ...asked, repair: true })
    const last = () => scene.session.get().messages.at(-1)
    await scene.until(() => last()?.role === 'assistant')
    const live = liveOutput(scene.session.message(last()?.id ?? ''))
    await scene.until(() => live.get().value !== undefined && last()?.rev !== undefined)
    await scene.until(
      () =>
        JSON.stringify(live.get().value) === '{"name":"Ad"}' ||
        textOf(last() ?? { content: [] }) === ada.slice(0, 12),
    )
    expect(live.get().value).toEqual({ name: 'Ada' })
    release()
    await scene.until(() => last()?.status === 'completed')
    expect(last()).toMatchObject({ content: [{ type: 'text', text: ada }] })
    expect(live.get().value).toEqual({ name: 'Ada', age: 36 })
  })

  test('nothing of what was wrong is left in an answer that is cut off while it is repaired', async () => {
    const half = ada.slice(0, 12)
    const steps = (question: string) =>
      question.includes('does not fit') ? [half, { stall: true as const }] : old
    const scene = open({ steps, tools: () => [] })
    await send(scene, { ...asked, repair: true })
    const last = () => scene.session.get().messages.at(-1)
    await scene.until(() => textOf(last() ?? { content: [] }) === half)
    await scene.pass(1_000)
    await scene.crash()
    await scene.until(() => last()?.status === 'interrupted')
    expect(last()).toMatchObject({ content: [{ type: 'text', text: half }] })
  })

  test('another answer and another version are held to the same shape', async () => {
    const steps = (question: string) => (question === 'Who else?' ? 'Nobody.' : ada)
    const scene = open({ steps, tools: () => [] })
    await send(scene, asked)
    const last = () => scene.session.get().messages.at(-1)
    await scene.until(() => last()?.status === 'completed' && last()?.role === 'assistant')
    await scene.session.edit(scene.session.get().messages[0]?.id ?? '', 'Who else?')
    await scene.until(() => last()?.status === 'failed')
    expect(last()?.error?.code).toBe('invalid-output')
  })

  test.each<[string, unknown]>([
    ['a schema that cannot say itself', z.object({ name: z.string() })],
    ['a wish that is none', { schema, strict: 'very' }],
  ])('a shape is refused that is %s', async (_name, output) => {
    const scene = open({ steps: [ada], tools: () => [] })
    expect(await ending(send(scene, output as never))).toBe('invalid-request')
  })
})
