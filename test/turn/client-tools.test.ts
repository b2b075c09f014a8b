import { describe, expect, test } from 'vitest'
import { TidemarkError } from '../../src/lib/errors.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type Tool, type ToolOptions, tool } from '../../src/turn/tool.ts'
import { type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { noStrayRejections } from '../chat/world.ts'
import { type Client, type ClientSetup, expectInStep, openClient, reload } from '../scenarios/client.ts'
import { createBrowser } from '../scenarios/page.ts'
import { pass, type Server, startServer, until } from '../scenarios/server.ts'
import { calling, callsIn, resultsIn, stages } from './scenes.ts'

noStrayRejections()

const parameters = { type: 'object' }

/** What the server knows of tools that only a page has. */
const declared = [
  tool({ name: 'place', parameters }),
  tool({ name: 'send', parameters, needsApproval: true }),
  tool({ name: 'hurry', parameters, timeout: 5_000 }),
]

const serverOf = (first: ScriptStep) =>
  startServer({
    tools: declared,
    batch: 0,
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === 'user' ? first : 'Done.')),
  })

/** A page's tool, and how often and with what it was executed. */
function paged(
  given: Partial<Omit<ToolOptions, 'execute'>> & {
    execute?: (args: unknown, signal: AbortSignal) => unknown
  } = {},
) {
  const { execute = (args) => args, ...options } = given
  const executed: unknown[] = []
  const work: NonNullable<ToolOptions['execute']> = (args, { signal }) => {
    executed.push(args)
    return execute(args, signal)
  }
  return { executed, made: tool({ name: 'place', parameters, ...options, execute: work }) }
}

const ends = (server: Server, { session }: Client) =>
  until(server, () => session.get().status === 'ready' && session.get().messages.length > 2)

async function asked(
  tools: Tool[],
  {
    first = calling(['place', { at: 'home' }]),
    ...setup
  }: Partial<ClientSetup> & { first?: ScriptStep } = {},
) {
  const server = serverOf(first)
  const client = openClient(server, { tools, ...setup })
  await client.session.send('Please.')
  return { server, client }
}

const never = () => new Promise(() => {})
const CUT_OFF = { ok: false, error: 'cut off before it answered; it may have been carried out' }

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

describe('a page that goes while it executes a tool', () => {
  test.each<[string, boolean, unknown, number]>([
    ['is not executed again', false, CUT_OFF, 1],
    ['is, where that does no harm', true, { ok: true, data: 'again' }, 2],
  ])('leaves a call that %s', async (_, idempotent, result, times) => {
    let life = 0
    const { made, executed } = paged({ idempotent, execute: () => (life++ === 0 ? never() : 'again') })
    const { server, client } = await asked([made])
    await until(server, () => executed.length > 0)
    const back = await reload(client, 'back', { tools: [made] })
    await ends(server, back)
    expect(executed).toHaveLength(times)
    expect(resultsIn(back.session)).toEqual([result])
  })

  test('does not execute for ever what ends it each time', async () => {
    const { made, executed } = paged({ idempotent: true, execute: never })
    const { server, client } = await asked([made])
    let page = client
    for (let times = 1; times <= 3; times++) {
      await until(server, () => executed.length === times)
      page = await reload(page, `page-${times}`, { tools: [made] })
    }
    await ends(server, page)
    expect(executed).toHaveLength(3)
    expect(resultsIn(page.session)).toEqual([CUT_OFF])
  })

  test('after it has its result, and before that is in the outbox, says it once it is back', async () => {
    const disk = watchedStorage()
    const storage: WatchedStorage = {
      ...disk,
      commit: (changes, options) =>
        changes.some((change) => change.type === 'outbox' && change.row.request.type === 'command')
          ? Promise.reject(new TidemarkError('storage', 'full'))
          : disk.commit(changes, options),
    }
    let cut = () => {}
    const { made, executed } = paged({
      execute: () => {
        cut()
        return 'the kitchen'
      },
    })
    const { server, client } = await asked([made], { storage })
    cut = () => {
      client.line.online = false
    }
    await until(server, () => executed.length > 0)
    await pass(server, 1_000)
    expect((await disk.reopen().window('s', { limit: 9 })).outbox).toEqual([])
    const back = await reload(client, 'back', { tools: [made] })
    expect(stages(back.session)).not.toContain('completed')
    await ends(server, back)
    expect(executed).toHaveLength(1)
    expect(resultsIn(back.session)).toEqual([{ ok: true, data: 'the kitchen' }])
  })
})

test('of the tabs of one browser, one executes a call, whichever goes and comes', async () => {
  const storage = watchedStorage(memoryStorage(), 'shared')
  const browser = createBrowser()
  const { made, executed } = paged({ execute: never, timeout: 30_000 })
  const { server, client } = await asked([made], { storage, page: browser.page() })
  await until(server, () => executed.length > 0)
  const second = openClient(server, {
    tools: [made],
    name: 'second',
    storage: storage.reopen(),
    page: browser.page(),
  })
  await pass(server, 2_000)
  expect(executed).toHaveLength(1)
  storage.fail(() => true)
  await client.chat.close()
  await ends(server, second)
  expect(executed).toHaveLength(1)
  expect(resultsIn(second.session)).toEqual([CUT_OFF])
})
