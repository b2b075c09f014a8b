import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { pathTo } from '../../src/message/tree.ts'
import { validateConversation } from '../../src/message/validate.ts'
import type { Envelope, MessagePage } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { emptyState, messagesOf } from '../../src/protocol/state.ts'
import { type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import { createSession, eventsOf, pageOf, type Stage, sendBody, stage } from './stage.ts'

/** One thing somebody does; `at` chooses among the messages or runs there are. */
type Step =
  | { type: 'send'; at: number; whenBusy: 'queue' | 'steer' | 'interrupt' | 'refuse' }
  | { type: 'regenerate' | 'edit' | 'selectBranch' | 'cancel'; at: number }
  | { type: 'wait'; at: number }
  | { type: 'repeat'; at: number }

const at = fc.nat(1000)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('send'),
      at,
      whenBusy: fc.constantFrom('queue', 'steer', 'interrupt', 'refuse'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('regenerate', 'edit', 'selectBranch', 'cancel', 'repeat'),
      at,
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('wait'), at }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('repeat'), at }) },
)

interface Asked {
  path: 'messages' | 'commands'
  body: object
  /** The run it begins. */
  runId?: string
}

/** What the walk has asked for so far. */
interface Walk {
  ask: Stage['ask']
  requests: Asked[]
  /** Those that were accepted. */
  runs: string[]
}

type NewRequest = Exclude<Step, { type: 'wait' | 'repeat' }>

function requestOf({ requests, runs }: Walk, { messages }: MessagePage, given: NewRequest): Asked {
  const n = requests.length
  const messageId = messages[given.at % Math.max(1, messages.length)]?.id ?? 'nobody'
  const runId = `run-${n}`
  const path = 'commands'
  switch (given.type) {
    case 'send': {
      const parentId = messages.length === 0 ? null : messageId
      return {
        path: 'messages',
        runId,
        body: { ...sendBody(`m${n}`, parentId), runId, whenBusy: given.whenBusy },
      }
    }
    case 'cancel': {
      // One that is known, or one that will be.
      const target = runs[given.at % (runs.length + 1)] ?? `run-${n + 2}`
      return { path, body: { id: `c${n}`, type: 'cancel', runId: target } }
    }
    case 'edit': {
      const content = [{ type: 'text', text: 'edited' }]
      return { path, runId, body: { id: `c${n}`, type: 'edit', messageId, runId, newId: `m${n}`, content } }
    }
    case 'regenerate':
      return { path, runId, body: { id: `c${n}`, type: 'regenerate', messageId, runId } }
    case 'selectBranch':
      return { path, body: { id: `c${n}`, type: 'selectBranch', messageId } }
  }
}

async function take(walk: Walk, given: Step): Promise<void> {
  if (given.type === 'wait') {
    for (let turn = given.at % 20; turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve))
    return
  }
  const old = walk.requests[given.at % Math.max(1, walk.requests.length)]
  const request = given.type === 'repeat' ? old : requestOf(walk, await pageOf(walk.ask), given)
  if (!request) return
  if (given.type !== 'repeat') walk.requests.push(request)
  const response = await walk.ask('POST', `/sessions/s1/${request.path}`, request.body)
  expect([202, 400, 409], await response.clone().text()).toContain(response.status)
  const { runId } = request
  if (response.status === 202 && runId && !walk.runs.includes(runId)) walk.runs.push(runId)
}

const echo = tool({ name: 'echo', parameters: { type: 'object' }, execute: (args) => args })
const answers: readonly ScriptStep[] = [
  ['a plain answer'],
  [
    'let me see',
    { toolCall: { name: 'echo', arguments: { a: 1 } } },
    { toolCall: { name: 'echo', arguments: { b: 2 } } },
  ],
  ['it fails', { error: 'server' }],
  [{ toolCall: { name: 'nobody', arguments: {} } }],
  ['and so on'],
]

/** Everything that was told, once all runs have ended. */
async function whole({ ask, runs }: Walk): Promise<Envelope[]> {
  for (let times = 0; ; times++) {
    // A change that is the last, so that the feed has an end.
    const title = `the end ${times}`
    await ask('PATCH', '/sessions/s1', { title })
    const feed = await ask('GET', '/sessions/s1/events')
    const events = await eventsOf(
      feed,
      (event) => event.type === 'session.updated' && event.session.title === title,
    )
    const ended = new Set(events.map(({ event }) => event.type === 'run.finished' && event.runId))
    if (runs.every((id) => ended.has(id))) return events
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function assertTold(events: readonly Envelope[], page: MessagePage): void {
  expect(events.map(({ id }) => id?.n)).toEqual(events.map((_, n) => n + 1))
  const state = events.reduce((folded, envelope) => reduce(folded, envelope), emptyState('s1'))
  expect(state.missing).toBeNull()
  const rows = [...messagesOf(state)].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
  expect(rows).toEqual(page.messages)
  expect(state.session).toEqual(page.session)
  expect(state.runs.size).toBe(0)
}

/** One end for each run, and a start for each that said something. */
function assertRuns(events: readonly Envelope[], page: MessagePage): void {
  const of = (type: 'run.started' | 'run.finished') =>
    events.flatMap(({ event }) => (event.type === type && 'runId' in event ? [event.runId] : []))
  const [started, finished] = [of('run.started'), of('run.finished')]
  expect(new Set(started).size).toBe(started.length)
  expect(new Set(finished).size).toBe(finished.length)
  for (const run of started) expect(finished).toContain(run)
  // One that was ended before it began leaves an answer without a word.
  for (const row of page.messages)
    if (row.role === 'assistant' && row.content.length > 0) expect(started).toContain(row.runId)
  // One at a time.
  let running: string | undefined
  for (const { event } of events) {
    if (event.type === 'run.started') {
      expect(running).toBeUndefined()
      running = event.runId
    } else if (event.type === 'run.finished' && event.runId === running) running = undefined
  }
}

/** A tree in which every branch is whole, and every message is settled. */
function assertTree({ messages, session }: MessagePage): void {
  const byId = new Map(messages.map((row): [string, Message] => [row.id, row]))
  expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, n) => n + 1))
  expect(new Set(messages.map(({ rev }) => rev)).size).toBe(messages.length)
  for (const row of messages) {
    expect(['completed', 'failed', 'interrupted']).toContain(row.status)
    const path = pathTo(byId, row.id)
    expect(path[0]?.parentId).toBeNull()
    const pairs = validateConversation(path).errors.filter(({ code }) => code.includes('orphan'))
    expect(pairs).toEqual([])
  }
  if (messages.length > 0) expect(byId.has(session?.headId ?? '')).toBe(true)
}

/** `WALKS=1000` walks for longer. */
const WALKS = Number(process.env.WALKS ?? 10)

test(
  'whatever is asked in whatever order, the feed and the pages tell one consistent story',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const pace = () => new Promise<void>((resolve) => setImmediate(resolve))
        const model = scriptedModel((_, call) => answers[call % answers.length] ?? '', { chunkSize: 5, pace })
        const limits = { queue: 100, page: 1000, requests: { max: 1e6, per: 1 } }
        const { ask, errors } = stage({ model, tools: [echo], batch: 0, limits })
        await createSession(ask)
        const walk: Walk = { ask, requests: [], runs: [] }
        for (const given of steps) await take(walk, given)
        const events = await whole(walk)
        const page = await pageOf(ask, '?limit=1000')
        assertTold(events, page)
        assertRuns(events, page)
        assertTree(page)
        expect(errors).toEqual([])
      }),
      { numRuns: WALKS },
    )
  },
  WALKS * 5_000,
)
