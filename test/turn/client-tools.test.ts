import { describe, expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { expectInStep, openClient, reload } from '../scenarios/client.ts'
import { pass, until } from '../scenarios/server.ts'
import { asked, ends, never, paged } from './client-tools.ts'
import { calling, callsIn, resultsIn, stages } from './scenes.ts'

noStrayRejections()

describe('a tool that only the page has', () => {
  test('is executed there, once, and the model goes on with its result', async () => {
    const { made, executed } = paged({ execute: () => 'the kitchen' })
    const { server, client } = await asked([made])
    await ends(server, client)
    expect(executed).toEqual([{ at: 'home' }])
    const results = await expectInStep(client)
    expect(resultsIn(client.session)).toEqual([{ ok: true, data: 'the kitchen' }])
    expect(results.at(-1)).toMatchObject({ status: 'completed', content: [{ text: 'Done.' }] })
  })

  test('makes the run wait in storage until a page comes that has it', async () => {
    const { made, executed } = paged()
    const { server, client } = await asked([])
    await until(server, () => client.session.get().waiting.length > 0)
    await pass(server, 60_000)
    expect(stages(client.session)).toEqual(['client'])
    server.die()
    server.start()
    const other = openClient(server, { tools: [made], name: 'other' })
    await ends(server, other)
    expect(executed).toEqual([{ at: 'home' }])
  })

  test.each<[string, Parameters<typeof paged>[0], unknown, number]>([
    [
      'told what does not fit, and not executed',
      { parameters: { type: 'object', properties: { at: { type: 'number' } } } },
      { ok: false, error: 'the arguments do not fit: at: expected number' },
      0,
    ],
    [
      'told what it threw',
      {
        execute: () => {
          throw new Error('no such place')
        },
      },
      { ok: false, error: 'no such place' },
      1,
    ],
    [
      'told that it took too long',
      { timeout: 1_000, execute: never },
      { ok: false, error: 'the tool did not answer within 1000 ms; it may have had its effect' },
      1,
    ],
    [
      'told that nobody could say whether it may be executed',
      {
        needsApproval: () => {
          throw new Error('who knows')
        },
      },
      { ok: false, error: 'the call could not be judged: who knows' },
      0,
    ],
  ])('where it goes wrong, the model is %s', async (_, options, result, times) => {
    const { made, executed } = paged(options)
    const { server, client } = await asked([made])
    await ends(server, client)
    expect(resultsIn(client.session)).toEqual([result])
    expect(executed).toHaveLength(times)
  })

  test('says the whole of a long result, of which the model reads the beginning', async () => {
    const { made } = paged({ execute: () => 'x'.repeat(50_000) })
    const { server, client } = await asked([made])
    await ends(server, client)
    const [call] = callsIn(client.session)
    expect(call?.details).toHaveLength(50_000)
    expect(JSON.stringify(call?.content).length).toBeLessThan(20_000)
  })

  test('sends of a result that is larger than a request what the model gets to read', async () => {
    const { made } = paged({ execute: () => 'x'.repeat(3_000_000) })
    const { server, client } = await asked([made])
    await ends(server, client)
    expect(callsIn(client.session)).toMatchObject([{ isError: false, status: 'completed' }])
  })

  test('is aborted, and says nothing, once the run is stopped', async () => {
    let stopped = false
    const { made, executed } = paged({
      execute: (_, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            stopped = true
            resolve('late')
          }),
        ),
    })
    const { server, client } = await asked([made])
    await until(server, () => executed.length > 0)
    await client.session.stop()
    await until(server, () => stopped)
    await expectInStep(client)
    expect(resultsIn(client.session)).toMatchObject([{ ok: false }])
  })

  test('whose result the server does not take is answered with what is wrong with that', async () => {
    let deep: unknown = 'home'
    for (let level = 0; level < 50; level++) deep = [deep]
    const { made, executed } = paged({ execute: () => deep })
    const { server, client } = await asked([made])
    await ends(server, client)
    expect(executed).toHaveLength(1)
    const error = 'the result was refused: the body is nested deeper than 32 levels'
    expect(resultsIn(client.session)).toEqual([{ ok: false, error }])
    expect(client.chat.health.get()).toMatchObject({ outbox: 0, lastError: { code: 'invalid-request' } })
    await expectInStep(client)
  })

  test('that nobody answers in time is given up by the server, and by the page', async () => {
    const { made, executed } = paged({ name: 'hurry', execute: never, timeout: 3_600_000 })
    const { server, client } = await asked([made], { first: calling(['hurry']) })
    await ends(server, client)
    expect(executed).toHaveLength(1)
    expect(resultsIn(client.session)).toMatchObject([
      { ok: false, error: expect.stringContaining('in time') },
    ])
  })
})

describe('a page’s tool that needs to be allowed', () => {
  test('asks on every device, and is executed once, with what somebody allowed', async () => {
    const { made, executed } = paged({ needsApproval: true })
    const { server, client } = await asked([made])
    const other = openClient(server, { name: 'other' })
    await until(server, () => stages(other.session)[0] === 'approval')
    expect(executed).toEqual([])
    await other.session.approve('call_1', { arguments: { at: 'work' } })
    await ends(server, client)
    await expectInStep(client)
    expect(executed).toEqual([{ at: 'work' }])
  })

  test('and is not, is not executed', async () => {
    const { made, executed } = paged({ needsApproval: async () => true })
    const { server, client } = await asked([made])
    await until(server, () => stages(client.session)[0] === 'approval')
    await client.session.reject('call_1', 'not now')
    await ends(server, client)
    expect(executed).toEqual([])
    expect(resultsIn(client.session)).toEqual([
      { ok: false, error: 'the user did not allow this call: not now' },
    ])
  })

  test('and is not in time, is not executed', async () => {
    const { made, executed } = paged({ needsApproval: true, approvalTimeout: 20_000 })
    const { server, client } = await asked([made])
    await until(server, () => stages(client.session)[0] === 'approval')
    await pass(server, 10_000)
    expect(stages(client.session)).toEqual(['approval'])
    await ends(server, client)
    expect(executed).toEqual([])
    expect(resultsIn(client.session)).toEqual([
      { ok: false, error: 'nobody allowed the call in time; the tool was not executed' },
    ])
  })

  test('is not asked for twice where the server has asked', async () => {
    const { made, executed } = paged({ name: 'send', needsApproval: true })
    const { server, client } = await asked([made], { first: calling(['send']) })
    await until(server, () => stages(client.session)[0] === 'approval')
    await client.session.approve('call_1')
    await ends(server, client)
    expect(executed).toHaveLength(1)
  })

  test('asks again after a reload, by the same question', async () => {
    const { made, executed } = paged({ needsApproval: true })
    const { server, client } = await asked([made])
    await until(server, () => stages(client.session)[0] === 'approval')
    const back = await reload(client, 'back', { tools: [made] })
    await until(server, () => back.session.get().waiting.length > 0)
    await pass(server, 5_000)
    expect(executed).toEqual([])
    await back.session.approve('call_1')
    await ends(server, back)
    expect(executed).toHaveLength(1)
  })
})
