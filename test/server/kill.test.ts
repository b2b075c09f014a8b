import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { type Envelope, formatEventId } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { emptyState, messagesOf } from '../../src/protocol/state.ts'
import { createSession, eventsOf, feedUntil, pageOf, type Stage, sendBody, temporaryFolder } from './stage.ts'

const script = fileURLToPath(new URL('killable.ts', import.meta.url))

/** Starts the server; resolves when it listens. */
async function start(
  file: string,
  lease: number,
  mode = '',
): Promise<{ child: ChildProcess; ask: Stage['ask'] }> {
  const child = spawn(process.execPath, ['--import', 'tsx', script, file, String(lease), mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [chunk] = await once(child.stdout, 'data')
  const base = `http://127.0.0.1:${String(chunk).trim()}`
  const ask: Stage['ask'] = (method, path, body, headers = {}) =>
    fetch(base + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { child, ask }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** What a reader has of the answer. */
function textIn(events: readonly Envelope[]): string {
  const state = events.reduce((folded, envelope) => reduce(folded, envelope), emptyState('s1'))
  const answer = [...messagesOf(state)].find(({ role }) => role === 'assistant')
  return answer ? textOf(answer) : ''
}

test('a server killed in mid-answer and started again ends the run truthfully, with all that was told', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const one = await start(file, 1_000)
  await createSession(one.ask)
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  let deltas = 0
  const seen = await eventsOf(await one.ask('GET', '/sessions/s1/events'), ({ type }) => {
    return type === 'message.delta' && ++deltas === 5
  })
  await kill(one.child)

  const two = await start(file, 1_000)
  const last = seen.at(-1)?.id
  const rest = await feedUntil(two.ask, 'run-m1', last && formatEventId(last))
  expect(rest.map(({ event }) => event.type).slice(-2)).toEqual(['message.interrupted', 'run.finished'])
  const numbers = [...seen, ...rest].map(({ id }) => id?.n)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
  const { messages } = await pageOf(two.ask)
  expect(messages).toMatchObject([{ status: 'completed' }, { status: 'interrupted', stopReason: 'aborted' }])
  const text = messages[1] ? textOf(messages[1]) : ''
  expect(textIn(seen)).not.toBe('')
  expect(text.startsWith(textIn(seen))).toBe(true)
  expect(textIn([...seen, ...rest])).toBe(text)
  // What was said is whole: it counts from 0 without a hole.
  expect(text).toBe(Array.from({ length: text.split(' ').length - 1 }, (_, at) => `${at} `).join(''))
  // And it goes on with what comes next.
  expect((await two.ask('POST', '/sessions/s1/messages', sendBody('m2', 'm1'))).status).toBe(202)
}, 30_000)

test('a server killed between two model calls goes on with the run when it is started again, and executes nothing twice', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const one = await start(file, 1_000, 'mute')
  await createSession(one.ask)
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1', null, 'Note it.'))
  let answers = 0
  await eventsOf(
    await one.ask('GET', '/sessions/s1/events'),
    (event) => event.type === 'message.created' && event.message.role === 'assistant' && ++answers === 2,
  )
  await kill(one.child)

  const two = await start(file, 1_000)
  const events = await feedUntil(two.ask, 'run-m1')
  expect(events.at(-1)?.event).toMatchObject({ type: 'run.finished', outcome: 'completed' })
  const { messages } = await pageOf(two.ask)
  expect(messages.map(({ role, status }) => `${role} ${status}`)).toEqual([
    'user completed',
    'assistant completed',
    'tool completed',
    'assistant completed',
  ])
  expect(messages[3] && textOf(messages[3])).toBe('Noted.')
  expect(readFileSync(`${file}.notes`, 'utf8')).toBe('noted\n')
}, 30_000)

test('while one of two processes is killed, the other serves on and ends what it left', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const [one, two] = await Promise.all([start(file, 1_000), start(file, 1_000)])
  await createSession(one.ask)
  const feed = feedUntil(two.ask, 'run-m1')
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  await eventsOf(await two.ask('GET', '/sessions/s1/events'), ({ type }) => type === 'message.delta')
  await kill(one.child)
  const events = await feed
  expect(events.at(-1)?.event).toMatchObject({ type: 'run.finished', outcome: 'interrupted' })
  const { messages } = await pageOf(two.ask)
  expect(messages[1] && textOf(messages[1])).toBe(textIn(events))
}, 30_000)
