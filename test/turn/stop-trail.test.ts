import { expect, onTestFinished, test } from 'vitest'
import type { ToolMessage } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Tool } from '../../src/turn/tool.ts'
import { assistantMessage } from '../support/messages.ts'
import { play, tool } from './stage.ts'

test.each(['started', 'client'] as const)(
  'a call that was %s when its run is gone on with, and is stopped at once, may have been carried out: so it says',
  async (stage) => {
    const controller = new AbortController()
    const told = { sessionId: 's1', createdAt: 1, updatedAt: 1, v: 1 }
    const asked = assistantMessage('a1', '', {
      content: [{ type: 'toolCall', id: 'c1', name: 'book', arguments: {} }],
      parentId: 'u1',
      status: 'completed',
      stopReason: 'toolUse',
    })
    const open: ToolMessage = {
      ...told,
      ...{ id: 't1', role: 'tool', parentId: 'a1', status: 'pending', stage, toolCallId: 'c1' },
      ...{ toolName: 'book', content: [], isError: false },
    }
    const { check, ...book } = tool('book', () => 'booked', { idempotent: true })
    const looked: Tool = {
      ...book,
      check: (call) => {
        controller.abort()
        return check(call)
      },
    }
    // What waits elsewhere is not looked at unless it is stopped.
    if (stage === 'client') controller.abort()
    const given = { trail: [asked, open], tools: [looked], signal: controller.signal }
    const { log } = await play({ model: scriptedModel([]), ...given })
    const settled = log.events.find((event) => event.type === 'message.completed')
    expect(settled?.message && textOf(settled.message)).toMatch(/may have been carried out/)
  },
)

test('two hundred calls at once each hear of a stop, and nothing is taken for a leak', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const stop = new AbortController()
  const stopped = new Set<number>()
  let begun = 0
  const wait = tool('wait', (args, { signal }) => {
    signal.addEventListener('abort', () => stopped.add(Object(args).n))
    if (++begun === 200) stop.abort()
    return new Promise(() => {})
  })
  const calls = Array.from({ length: 200 }, (_, n) => ({ toolCall: { name: 'wait', arguments: { n } } }))
  const model = scriptedModel([calls])
  const { messages } = await play({ model, tools: [wait], signal: stop.signal })
  await new Promise((resolve) => setImmediate(resolve))
  expect(messages.filter(({ role }) => role === 'tool').length).toBe(200)
  expect(stopped.size).toBe(200)
  expect(warnings).toEqual([])
})
