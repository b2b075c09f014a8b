import { describe, expect, test } from 'vitest'
import type { CallOptions, Capabilities } from '../../src/adapters/contract.ts'
import type { AssistantMessage } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { anthropic } from '../../src/runtime/anthropic.ts'
import { type Script, scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool as toolOf } from '../../src/turn/tool.ts'
import { ending, shown } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { assistantMessage, toolCall } from '../support/messages.ts'
import { calling, SCENES, type SceneOptions } from './scenes.ts'
import { play, recorder, tool } from './stage.ts'

noStrayRejections()

const cut = (more: Partial<AssistantMessage> = {}) =>
  assistantMessage('old', 'The tide ', {
    parentId: 'u1',
    status: 'interrupted',
    stopReason: 'aborted',
    ...more,
  })

/** A run that goes on from an answer that was cut off. */
async function continued(
  steps: Script,
  {
    capabilities = {},
    continues = cut(),
    ...more
  }: {
    capabilities?: Capabilities
    continues?: AssistantMessage
    call?: CallOptions
    tools?: ReturnType<typeof tool>[]
  } = {},
) {
  const model = scriptedModel(steps)
  const staged = await play({ model: { ...model, capabilities }, continues, ...more })
  expect(staged.folded.problems).toEqual([])
  return { ...staged, calls: model.calls }
}

const rolesOf = (messages: readonly { role: string }[]) => messages.map(({ role }) => role).join(' ')

describe('an answer that goes on from one that was cut off', () => {
  test.each<[string, Capabilities, CallOptions | undefined, string, string]>([
    ['takes its text as the beginning', { prefill: true }, undefined, 'user assistant', 'The tide'],
    ['is asked for by a note where no beginning is taken', {}, undefined, 'user assistant user', 'The tide '],
    [
      'is asked for by a note where the model is to think',
      { prefill: true },
      { thinking: 'low' },
      'user assistant user',
      'The tide ',
    ],
  ])('%s', async (_, capabilities, call, roles, text) => {
    const { messages, calls } = await continued([' is high.'], { capabilities, ...(call && { call }) })
    const sent = calls[0]?.context.messages ?? []
    expect(rolesOf(sent)).toBe(roles)
    expect(textOf(sent[1] as AssistantMessage)).toBe(text)
    if (sent[2]) expect(textOf(sent[2])).toMatch(/^\[continue\]\n/)
    expect(messages).toMatchObject([
      { parentId: 'u1', status: 'completed', continues: 'old', stopReason: 'stop' },
    ])
    expect(messages[0]?.content).toEqual([
      { type: 'text', text },
      { type: 'text', text: ' is high.' },
    ])
  })

  test('tells of the text it begins with only once there is something behind it', async () => {
    const { log, messages } = await continued([['is ', 'high.']])
    const deltas = log.events.filter((event) => event.type === 'message.delta')
    expect(deltas.map(({ index, delta }) => [index, delta])).toEqual([
      [0, 'The tide '],
      [1, 'is '],
      [1, 'high.'],
    ])
    expect(messages).toHaveLength(1)
  })

  test('that fails before its first word has none of it, and is asked for again', async () => {
    const { messages, calls } = await continued([[{ error: 'server' }], [{ error: 'auth' }]])
    expect(calls).toHaveLength(2)
    expect(messages).toMatchObject([{ status: 'failed', content: [], continues: 'old' }])
  })

  test('that is cut off itself keeps all that was said', async () => {
    const { messages } = await continued([['is ', { error: 'auth' }]])
    expect(messages.map((message) => [message.status, textOf(message)])).toEqual([['failed', 'The tide is ']])
  })

  test('has nothing more to say', async () => {
    const { messages } = await continued([[{ stop: 'stop' }]])
    expect(messages.map((message) => [message.status, textOf(message)])).toEqual([['completed', 'The tide ']])
  })

  test('says nothing of its tokens: what was counted is the rest alone', async () => {
    const usage = { input: 9, output: 2, cacheRead: 0, cacheWrite: 0, total: 11 }
    const { messages } = await continued([['is high.', { usage }]])
    expect(messages[0]).toMatchObject({ usage })
    expect(messages[0]).not.toHaveProperty('tokenCount')
  })

  test('may call tools: the model goes on with all of it, and is asked by no note again', async () => {
    const look = tool('look', () => 'high')
    const { messages, calls } = await continued([['is', { toolCall: { name: 'look' } }], 'Done.'], {
      tools: [look],
    })
    expect(rolesOf(calls[1]?.context.messages ?? [])).toBe('user assistant tool')
    expect(messages.map((message) => textOf(message))).toEqual(['The tide is', expect.any(String), 'Done.'])
  })

  test('is heard again behind the text that it begins with', async () => {
    const content = ['The tide ', 'is '].map((text) => ({ type: 'text' as const, text }))
    const resumed = cut({ id: 'a1', continues: 'old', responseId: 'r1', content })
    const model = scriptedModel([['is ', 'high.']])
    const { log } = await play({
      model: { ...model, resume: () => model.stream({ messages: [] }) },
      resumed,
      log: recorder(),
    })
    expect(log.events.filter(({ type }) => type === 'message.updated')).toEqual([])
    const ends = log.events.flatMap((event) => (event.type === 'message.completed' ? [event.message] : []))
    expect(ends.map(textOf)).toEqual(['The tide is high.'])
  })

  test('leaves out calls that were cut off, and begins anew where there was no text', async () => {
    const content = [toolCall('c1')]
    const { messages, calls } = await continued(['All of it.'], { continues: cut({ content }) })
    expect(rolesOf(calls[0]?.context.messages ?? [])).toBe('user')
    expect(messages[0]).not.toHaveProperty('continues')
  })
})

test.each([
  ['claude-sonnet-4-5', true],
  ['claude-3-5-haiku-latest', true],
  ['claude-opus-4-6', undefined],
  ['claude-sonnet-5', undefined],
])('%s takes the beginning of an answer: %s', (name, expected) => {
  expect(anthropic(name).capabilities?.prefill).toBe(expected)
  expect(anthropic(name, { capabilities: { prefill: false } }).capabilities).toEqual({ prefill: false })
})

const isNote = (question: string) => question.startsWith('[continue]')

describe.each(SCENES)('over %s', (_, open) => {
  const parameters = { type: 'object' }
  const tools: SceneOptions['tools'] = (spy) => [toolOf({ name: 'look', parameters, execute: spy('look') })]

  /** A chat whose answer was stopped in its middle. */
  async function halfSaid(steps: SceneOptions['steps']) {
    const scene = open({ steps, tools })
    const { session } = scene
    const { id, answer } = await session.send('What is it?')
    answer.catch(() => undefined)
    await scene.until(() => session.get().messages.some((message) => textOf(message) === 'A line '))
    await session.stop()
    await scene.until(() => session.get().status === 'ready')
    const half = session.get().messages.at(-1)
    if (!half) throw new Error('no answer')
    return { scene, session, half, id }
  }

  test('continue() makes a new answer beside the old one, which stays as it was', async () => {
    const { scene, session, half, id } = await halfSaid((question) =>
      isNote(question) ? 'of seaweed.' : ['A line ', { stall: true }],
    )
    const going = await session.continue(half.id)
    expect(going.id).toBe(id)
    await scene.until(() => session.get().messages.at(-1)?.status === 'completed')
    const whole = await going.answer
    expect(whole).toMatchObject({ continues: half.id, parentId: id })
    expect(shown(session.get().messages)).toEqual(['What is it?', 'A line of seaweed.'])
    expect(session.branches(whole.id)).toEqual([half.id, whole.id])
    expect(session.message(half.id).get()).toEqual(half)
    await scene.reload()
    await scene.until(() => scene.session.get().messages.length === 2)
    expect(shown(scene.session.get().messages)).toEqual(['What is it?', 'A line of seaweed.'])
  })

  test('goes on behind the results of a call, which is not executed again', async () => {
    const { scene, session, half } = await halfSaid((question, answered) =>
      isNote(question) ? 'of seaweed.' : answered === 0 ? calling(['look']) : ['A line ', { stall: true }],
    )
    await session.continue(half.id)
    await scene.until(() => shown(session.get().messages).at(-1) === 'A line of seaweed.')
    await scene.until(() => session.get().status === 'ready')
    const messages = session.get().messages
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages.at(-1)).toMatchObject({ parentId: messages[2]?.id, continues: half.id })
    expect(scene.executed).toHaveLength(1)
  })

  test('takes only an answer that was cut off', async () => {
    const scene = open({ steps: ['Whole.'], tools })
    const { session } = scene
    const { id } = await session.send('What is it?')
    await scene.until(
      () => session.get().messages.at(-1)?.status === 'completed' && session.get().status === 'ready',
    )
    const answer = session.get().messages.at(-1)?.id ?? ''
    for (const other of [id, answer]) expect(await ending(session.continue(other))).toBe('invalid-request')
    expect(await ending(session.continue('nobody'))).toBe('not-found')
  })

  test('that is stopped before it begins leaves the old answer, and what was asked for is over', async () => {
    const { scene, session, half } = await halfSaid(() => ['A line ', { stall: true }])
    await session.continue(half.id)
    await scene.pass(200)
    await session.stop()
    await scene.until(() => session.get().status === 'ready')
    expect(session.message(half.id).get()).toEqual(half)
    const others = session.branches(half.id).filter((id) => id !== half.id)
    for (const other of others) expect(session.message(other).get()?.status).toBe('interrupted')
  })
})
