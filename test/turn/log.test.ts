import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { runTurn } from '../../src/turn/run-turn.ts'
import { createWriter } from '../../src/turn/writer.ts'
import { options, type Play, play, recorder, tool } from './stage.ts'

const lost = new Error('the lease is lost')
const refusing = (when: (events: readonly ChatEvent[]) => boolean) => {
  let refused = false
  return recorder((events) => {
    refused ||= when(events)
    if (refused) throw lost
  })
}
const has = (type: ChatEvent['type']) => (events: readonly ChatEvent[]) =>
  events.some((event) => event.type === type)

/** Plays a run whose log refuses; how many appends there were. */
async function refused(given: Play & { log: ReturnType<typeof recorder> }): Promise<number> {
  await expect(runTurn(options(given))).rejects.toBe(lost)
  const written = given.log.appends.length
  await new Promise((resolve) => setImmediate(resolve))
  expect(given.log.appends).toHaveLength(written)
  return written
}

describe('a log that refuses', () => {
  test('the first message keeps the model from being called', async () => {
    const model = scriptedModel(['x'])
    expect(await refused({ model, log: refusing(has('run.started')) })).toBe(1)
    expect(model.calls).toEqual([])
  })

  test('a delta ends the run at once, also where the model has nothing more to say, and tells the model', async () => {
    let signal: AbortSignal | undefined
    const scripted = scriptedModel([['A li', { stall: true }]], { deaf: true })
    const model: typeof scripted = {
      ...scripted,
      stream(context, given) {
        signal = given?.signal
        return scripted.stream(context, given)
      },
    }
    expect(await refused({ model, log: refusing(has('message.delta')) })).toBe(3)
    expect(signal?.aborted).toBe(true)
  })

  test('the end of an answer keeps its tools from being executed', async () => {
    const executed: string[] = []
    const model = scriptedModel([[{ toolCall: { name: 'spy', arguments: {} } }]])
    await refused({
      model,
      tools: [tool('spy', () => executed.push('spy'))],
      log: refusing(has('message.completed')),
    })
    expect(executed).toEqual([])
  })

  test('a result keeps the model from being called again', async () => {
    const model = scriptedModel([[{ toolCall: { name: 'soon', arguments: {} } }], 'x'])
    const log = refusing((events) =>
      events.some((event) => event.type === 'message.completed' && event.message.role === 'tool'),
    )
    await refused({ model, tools: [tool('soon', () => 1)], log })
    expect(model.calls).toHaveLength(1)
  })

  test('by throwing instead of rejecting is understood, too', async () => {
    const log = {
      ...recorder(),
      append: () => {
        throw lost
      },
    }
    await expect(runTurn({ ...options({ model: scriptedModel(['x']) }), log })).rejects.toBe(lost)
  })
})

test('nothing is written after a refusal, and the refusal is told once', async () => {
  const told: unknown[] = []
  const log = refusing(() => true)
  const writer = createWriter(
    log,
    (reason) => told.push(reason),
    () => undefined,
  )
  const piece: ChatEvent[] = [{ type: 'message.finished', id: 'a1' }]
  writer.push(piece)
  writer.push(piece)
  await expect(writer.commit(piece)).rejects.toBe(lost)
  expect(log.appends).toHaveLength(3)
  writer.push(piece)
  await expect(writer.commit(piece)).rejects.toBe(lost)
  expect(log.appends).toHaveLength(3)
  expect(told).toEqual([lost])
})

describe('a log that is slow', () => {
  test('gets deltas without being waited for, up to a bound, and loses none', async () => {
    const text = 'The tidemark is a line. '.repeat(20)
    const log = recorder(() => new Promise((resolve) => setImmediate(resolve)))
    const { messages, folded } = await play({ model: scriptedModel([text], { chunkSize: 3 }), log })
    expect(folded.problems).toEqual([])
    expect(messages).toMatchObject([{ content: [{ text }] }])
    expect(log.most).toBeGreaterThan(4)
    expect(log.most).toBeLessThanOrEqual(16)
  })

  test('is waited for at the end', async () => {
    const disk = createHold()
    const log = recorder((events) => (has('run.finished')(events) ? disk.hold : undefined))
    let ended = false
    const run = play({ model: scriptedModel(['x']), log }).then(() => {
      ended = true
    })
    await log.seen('run.finished')
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toBe(false)
    disk.release()
    await run
  })
})
