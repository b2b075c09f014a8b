import { describe, expect, test } from 'vitest'
import type { ToolMessage } from '../../src/message/schema.ts'
import { validateConversation } from '../../src/message/validate.ts'
import { createHold, type ScriptPiece, scriptedModel } from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'
import { appendsOf, play, recorder, tool } from './stage.ts'

const call = (name: string, args: unknown = {}): ScriptPiece => ({ toolCall: { name, arguments: args } })
const add = tool('add', (args) => {
  const { a, b } = Object(args)
  return Number(a) + Number(b)
})

/** What the tools answered, in their order. */
const results = (messages: readonly { role: string }[]) =>
  messages.filter((message): message is ToolMessage => message.role === 'tool')
const textsOf = (messages: readonly { role: string }[]) =>
  results(messages).map(({ content }) => content[0]?.type === 'text' && content[0].text)

describe('calls', () => {
  test('are answered, and the model goes on', async () => {
    const model = scriptedModel([['Let me see. ', call('add', { a: 2, b: 3 })], 'Five.'])
    const history = [userMessage('u1')]
    const { messages, outcome, folded, log } = await play({ model, tools: [add], history })
    expect(outcome).toBe('completed')
    expect(folded.problems).toEqual([])
    expect(messages.map(({ role, id, parentId }) => [role, id, parentId])).toEqual([
      ['assistant', 'a1', 'u1'],
      ['tool', 'id1', 'a1'],
      ['assistant', 'id2', 'id1'],
    ])
    expect(messages[0]).toMatchObject({ stopReason: 'toolUse' })
    expect(messages[1]).toMatchObject({
      toolCallId: 'call_1',
      toolName: 'add',
      status: 'completed',
      isError: false,
    })
    expect(textsOf(messages)).toEqual(['{"ok":true,"data":5}'])
    expect(model.calls[1]?.context.messages).toEqual([...history, ...messages.slice(0, 2)])
    expect(validateConversation([...history, ...messages])).toEqual({ valid: true, errors: [] })
    // Calls first, then results, each written before the model is called again; and never a moment without a message in flight.
    expect(appendsOf(log)).toEqual([
      'run.started created',
      'started',
      'delta',
      'completed created',
      'completed created',
      'started',
      'delta',
      'completed run.finished',
    ])
  })

  test('run in parallel, and are written in their order', async () => {
    const holds = { one: createHold(), two: createHold() }
    const begun: string[] = []
    const ended: string[] = []
    const waiting = (name: 'one' | 'two') =>
      tool(name, async () => {
        begun.push(name)
        await holds[name].hold
        ended.push(name)
        return name
      })
    const log = recorder()
    const run = play({
      model: scriptedModel([[call('one'), call('two')], 'Done.']),
      tools: [waiting('one'), waiting('two')],
      log,
    })
    await expect.poll(() => begun).toEqual(['one', 'two'])
    holds.two.release()
    await expect.poll(() => ended).toEqual(['two'])
    holds.one.release()
    const { messages } = await run
    expect(textsOf(messages)).toEqual(['{"ok":true,"data":"one"}', '{"ok":true,"data":"two"}'])
    expect(appendsOf(log).slice(3, 6)).toEqual([
      'completed created created',
      'completed',
      'completed created',
    ])
  })

  test('that are done are written while later ones still run', async () => {
    const late = createHold()
    const log = recorder()
    const tools = [tool('soon', () => 1), tool('late', () => late.hold)]
    const run = play({ model: scriptedModel([[call('soon'), call('late')], 'Done.']), tools, log })
    await log.seen('message.completed', 2)
    expect(log.events.at(-1)).toMatchObject({ message: { toolName: 'soon', status: 'completed' } })
    late.release()
    await run
  })

  test('get the arguments, their id and a signal', async () => {
    const seen: unknown[] = []
    const spy = tool('spy', (args, context) => seen.push([args, context.toolCallId, context.signal.aborted]))
    await play({ model: scriptedModel([[call('spy', { deep: [1, null] })], 'x']), tools: [spy] })
    expect(seen).toEqual([[{ deep: [1, null] }, 'call_1', false]])
  })

  test('that the provider answers itself are never executed', async () => {
    const spy = tool('search', () => {
      throw new Error('executed')
    })
    const step: ScriptPiece[] = [{ toolCall: { name: 'search', arguments: {}, server: true } }, 'Found.']
    const { messages, outcome } = await play({ model: scriptedModel([step]), tools: [spy] })
    expect(outcome).toBe('completed')
    expect(results(messages)).toEqual([])
  })
})

describe('the model is told', () => {
  const broken = tool('broken', () => {
    throw new Error('no such zone')
  })
  const rejecting = tool('rejecting', async () => Promise.reject(new Error('no answer')))
  const throwing = tool('throwing', () => {
    throw 'a string'
  })
  const ring: Record<string, unknown> = {}
  ring.self = ring
  const tools = [
    broken,
    rejecting,
    throwing,
    tool('wordless', () => {
      throw new RangeError('')
    }),
    tool('ring', () => ring),
    tool('big', () => 10n),
    tool('silent', () => undefined),
    tool('fun', () => () => 1),
    tool('strict', () => 1, { parameters: { type: 'object' } }),
  ]
  const failed = (error: unknown) => ({ ok: false, error })
  test.each<[string, ScriptPiece, unknown]>([
    ['what a tool threw', call('broken'), failed('no such zone')],
    ['why a promise was broken', call('rejecting'), failed('no answer')],
    ['what kind of error was thrown that has no words', call('wordless'), failed('RangeError')],
    ['what was thrown that is no error', call('throwing'), failed('a string')],
    ['that there is no such tool', call('toString'), failed('there is no tool named "toString"')],
    [
      'that a result is no JSON',
      call('ring'),
      failed(expect.stringMatching(/^the tool was executed, but what it returned is no JSON: .*circular/s)),
    ],
    [
      'that a number is too big for JSON',
      call('big'),
      failed(expect.stringMatching(/^the tool was executed, .* BigInt/)),
    ],
    ['that a tool without an answer did its work', call('silent'), { ok: true, data: null }],
    ['nothing of a result that JSON cannot say', call('fun'), { ok: true, data: null }],
    [
      'that arguments were cut off',
      { toolCall: { name: 'strict', rawArguments: '{"a":' } },
      failed(expect.stringContaining('not complete')),
    ],
    [
      'that arguments are missing',
      { toolCall: { name: 'strict', arguments: undefined } },
      failed('the call has no arguments'),
    ],
    [
      'that arguments are no object',
      call('strict', [1]),
      failed('the arguments do not fit: expected object'),
    ],
    [
      'that arguments are not even that',
      call('strict', null),
      failed('the arguments do not fit: expected object'),
    ],
  ])('%s', async (_, piece, expected) => {
    const { messages, outcome, folded } = await play({ model: scriptedModel([[piece], 'I see.']), tools })
    expect(outcome).toBe('completed')
    expect(folded.problems).toEqual([])
    const [result] = results(messages)
    expect(result?.status).toBe('completed')
    expect(result?.isError).toBe('error' in Object(expected))
    expect(JSON.parse(String(textsOf(messages)[0]))).toEqual(expected)
  })

  test('of a call that the limit cut off, which is not executed, and may try again', async () => {
    const executed: unknown[] = []
    const spy = tool('spy', (args) => executed.push(args))
    const cut: ScriptPiece[] = [
      call('spy', { n: 1 }),
      { toolCall: { name: 'spy', rawArguments: '{"n":2' } },
      { stop: 'length' },
    ]
    const { messages } = await play({
      model: scriptedModel([cut, [call('spy', { n: 2 })], 'Done.']),
      tools: [spy],
    })
    expect(executed).toEqual([{ n: 1 }, { n: 2 }])
    expect(results(messages).map(({ isError }) => isError)).toEqual([false, true, false])
  })
})

describe('a run of many steps', () => {
  test('ends at the limit, completed, with its last calls answered and a last answer that says it wanted more', async () => {
    const model = scriptedModel(() => [call('add', { a: 1, b: 1 })])
    const { messages, outcome, log } = await play({ model, tools: [add], maxSteps: 3 })
    expect(outcome).toBe('completed')
    expect(model.calls).toHaveLength(3)
    expect(messages.map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ])
    expect(messages.at(-2)).toMatchObject({ stopReason: 'toolUse', status: 'completed' })
    expect(appendsOf(log).at(-1)).toBe('completed run.finished')
    expect(validateConversation([userMessage('u1'), ...messages]).valid).toBe(true)
  })

  test('takes 8 steps unless told otherwise', async () => {
    const model = scriptedModel(() => [call('add', { a: 1, b: 1 })])
    await play({ model, tools: [add] })
    expect(model.calls).toHaveLength(8)
  })

  test('fails with the answer that fails, and keeps what was done before', async () => {
    const model = scriptedModel([[call('add', { a: 1, b: 1 })], ['Tw', { error: 'server' }]])
    const { messages, outcome } = await play({ model, tools: [add] })
    expect(outcome).toBe('failed')
    expect(messages.map(({ status }) => status)).toEqual(['completed', 'completed', 'failed'])
  })
})
