import { expect, test } from 'vitest'
import type { ChatStorage } from '../../src/chat/ports.ts'
import type { RuntimeHost } from '../../src/chat/runtime-port.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Message, ToolMessage } from '../../src/message/schema.ts'
import type { CallCommand } from '../../src/protocol/commands.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import { assistantMessage, toolCall, userMessage } from '../support/messages.ts'
import { stagedEnv } from '../turn/stage.ts'

const waiting = (stage: 'approval' | 'client'): ToolMessage => {
  const { content: _, ...common } = assistantMessage('t1', '', { status: 'pending' })
  return {
    ...common,
    role: 'tool',
    parentId: 'a1',
    toolCallId: 'c1',
    toolName: 'send',
    content: [],
    isError: false,
    stage,
  }
}

/** A tab that knows of a call that waits, and does not hear what the others store. */
function tabOver(
  storage: Pick<ChatStorage, 'records' | 'commit'>,
  stage: 'approval' | 'client' = 'approval',
) {
  const appended: ChatEvent[] = []
  const answer = {
    ...assistantMessage('a1', '', { parentId: 'u1' }),
    content: [toolCall('c1', { name: 'send' })],
  }
  const history: Message[] = [userMessage('u1', 'Please.'), answer, waiting(stage)]
  const host: RuntimeHost = {
    env: stagedEnv(),
    account: 'default',
    history: async () => history,
    answers: () => [],
    offline: () => false,
    append: async (_, events) => {
      appended.push(...events)
      return []
    },
    storage,
  }
  const send = tool({ name: 'send', parameters: {}, needsApproval: true })
  const runtime = direct({ model: scriptedModel([]), tools: [send] })
  runtime.open(host)
  const say = async (word: CallCommand) => {
    const signal = new AbortController().signal
    const context = { sessionId: 's', key: word.id, account: 'default', feed: false, attempts: 0, signal }
    await runtime.dispatch({ type: 'command', body: word }, context)
    const [event] = appended.splice(0)
    return event && 'message' in event ? event.message : undefined
  }
  return say
}

const approve: CallCommand = { id: 'w1', type: 'approve', messageId: 't1' }
const reject: CallCommand = { id: 'w2', type: 'reject', messageId: 't1', reason: 'no' }
const said = (id: string, data: unknown): CallCommand => ({ id, type: 'toolResult', messageId: 't1', data })

test('of two words about one call the first to be stored counts, and the later tab takes it', async () => {
  const storage = memoryStorage()
  const [one, two] = [tabOver(storage), tabOver(storage)]
  const first = await one(approve)
  expect(first).toMatchObject({ stage: 'approved' })
  expect(await two(reject)).toEqual(first)
})

test('of two that come at once, too', async () => {
  const storage = memoryStorage()
  const [one, two] = [tabOver(storage), tabOver(storage)]
  const [first, second] = await Promise.all([one(reject), two(approve)])
  expect(first).toMatchObject({ status: 'completed', isError: true })
  expect(second).toEqual(first)
})

test('a result of a call that was allowed before is another word', async () => {
  const storage = memoryStorage()
  await tabOver(storage)(approve)
  const [one, two] = [tabOver(storage, 'client'), tabOver(storage, 'client')]
  const first = await one(said('w3', 1))
  expect(first).toMatchObject({ content: [{ text: '{"ok":true,"data":1}' }] })
  expect(await two(said('w4', 2))).toEqual(first)
})

test('a storage that forgets its guard is found out: the second word would overwrite the first', async () => {
  const storage = memoryStorage()
  const forgetful = {
    ...storage,
    commit: (changes: Parameters<ChatStorage['commit']>[0]) => storage.commit(changes),
  }
  const first = await tabOver(forgetful)(approve)
  expect(await tabOver(forgetful)(reject)).not.toEqual(first)
})

test('while storage fails, a tab goes by its own word', async () => {
  const broken = {
    records: async () => [],
    commit: async () => {
      throw new TidemarkError('storage', 'no disk')
    },
  }
  expect(await tabOver(broken)(reject)).toMatchObject({ status: 'completed', isError: true })
})

/** A tab whose storage forgets what a run writes behind its first answer, or all of it. */
function forgetful(left: number) {
  const written: ChatEvent[] = []
  let asked = 0
  const question = userMessage('u1', 'Please.')
  const answer: Message = {
    ...assistantMessage('a1', '', { parentId: 'u1', runId: 'r1' }),
    content: [toolCall('c1', { name: 'send' })],
  }
  const host: RuntimeHost = {
    env: stagedEnv(),
    account: 'default',
    history: async () => (asked++ === 0 ? [question] : [question, answer].slice(0, left)),
    answers: () => (written.some(({ type }) => type === 'run.waiting') && left > 1 ? [answer] : []),
    offline: () => false,
    append: async (_, events) => {
      written.push(...events)
      if (written.length > 200) throw new TidemarkError('storage', 'it goes on for ever')
      return []
    },
    storage: memoryStorage(),
  }
  const send = tool({ name: 'send', parameters: {}, execute: () => 'sent', needsApproval: true })
  const model = scriptedModel([[{ toolCall: { id: 'c1', name: 'send', arguments: {} } }], 'Done.'])
  const runtime = direct({ model, tools: [send] })
  runtime.open(host)
  const signal = new AbortController().signal
  const context = { sessionId: 's', key: 'u1', account: 'default', feed: false, attempts: 0, signal }
  const body = {
    id: 'u1',
    runId: 'r1',
    parentId: null,
    content: [{ type: 'text' as const, text: 'Please.' }],
  }
  return { written, model, dispatched: runtime.dispatch({ type: 'send', body }, context) }
}

const over = async (written: readonly ChatEvent[]) => {
  for (let n = 0; n < 2_000 && written.at(-1)?.type !== 'run.finished'; n++) await undefined
}

test('a run whose waiting calls are lost each time comes to an end, and says so', async () => {
  const { written, model, dispatched } = forgetful(2)
  await dispatched
  await over(written)
  expect(written.at(-1)).toMatchObject({ type: 'run.finished', outcome: 'interrupted' })
  expect(written.filter(({ type }) => type === 'run.waiting')).toHaveLength(2)
  expect(model.calls).toHaveLength(1)
})

test('one whose session is gone asks the model nothing more', async () => {
  const { written, model, dispatched } = forgetful(0)
  await dispatched
  await over(written)
  expect(written.at(-1)?.type).toBe('run.waiting')
  expect(model.calls).toHaveLength(1)
})
