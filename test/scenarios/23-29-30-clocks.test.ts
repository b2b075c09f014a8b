import { describe, expect, test } from 'vitest'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { ending, shown, statuses } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, openClient, reload, watch } from './client.ts'
import type { Fault } from './line.ts'
import { ended, pass, startServer, until } from './server.ts'

noStrayRejections()

const HOUR = 3_600_000

test.each([-5, 5])(
  '23: a device whose clock is %i hours off has everything in the order of the server',
  async (off) => {
    const server = startServer({ world: createWorld({ from: 1_700_000_000_000 }) })
    const here = openClient(server, { name: 'here' })
    await ended(server, (await here.session.send('one')).answer)
    const world = {
      ...server.world,
      env: {
        ...server.world.env,
        now: () => server.world.env.now() + off * HOUR,
      },
    }
    const there = openClient({ ...server, world }, { name: 'there' })
    await until(server, () => there.session.get().messages.length === 2)
    await ended(server, (await there.session.send('two')).answer)
    await ended(server, (await here.session.send('three')).answer)
    there.line.online = false
    there.line.cut()
    const sent = await there.session.send('four')
    expect(shown(there.session.get().messages).at(-1)).toBe('four')
    await pass(server, 20_000)
    there.line.online = true
    await ended(server, sent.answer)
    const texts = ['one', 'two', 'three', 'four'].flatMap((text) => [text, `re: ${text}`])
    for (const client of [here, there]) expect(shown(await expectInStep(client))).toEqual(texts)
    expect(there.session.get().messages).toEqual(here.session.get().messages)
  },
)

/** A server whose answer comes in pieces. */
function slowServer() {
  const world = createWorld()
  const model = scriptedModel(() => 'It was said to the end.', {
    chunkSize: 3,
    pace: () => world.env.sleep(10),
  })
  return startServer({ world, model })
}

test('29: a stop that waits offline while the run completes ends as the server says: completed, and shown whole', async () => {
  const server = slowServer()
  const first = openClient(server)
  const sent = await first.session.send('go')
  const outcome = ending(sent.answer)
  await until(server, () => (shown(first.session.get().messages)[1] ?? '').length > 2)
  first.line.online = false
  first.line.cut()
  await first.session.stop()
  const kept = shown(first.session.get().messages)[1] ?? ''
  await pass(server, 5_000)
  expect(shown(first.session.get().messages)[1]).toBe(kept)
  expect(first.chat.health.get().outbox).toBe(1)
  first.line.online = true
  await pass(server, 40_000)
  expect(shown(await expectInStep(first))).toEqual(['go', 'It was said to the end.'])
  expect(statuses(first.session.get().messages)[1]).toBe('assistant completed')
  expect(await outcome).toMatchObject({ status: 'completed' })
})

test('29: also where the page was closed before the line came back', async () => {
  const server = slowServer()
  const first = openClient(server)
  await first.session.send('go')
  await until(server, () => (shown(first.session.get().messages)[1] ?? '').length > 2)
  first.line.online = false
  first.line.cut()
  await first.session.stop()
  await pass(server, 5_000)
  const again = await reload(first, 'again')
  expect(shown(await expectInStep(again))).toEqual(['go', 'It was said to the end.'])
  expect(statuses(again.session.get().messages)[1]).toBe('assistant completed')
})

/** Counts as a server in another language may: characters and not units. */
function inCodePoints(text: () => string): Fault {
  let said = ''
  const pieces = (bytes: Uint8Array) => {
    const frames = new TextDecoder().decode(bytes).split(/(?<=\n\n)/)
    const other = frames.map((frame) => {
      if (!frame.includes('event: message.delta')) {
        // A new answer begins.
        if (frame.includes('event: message.started')) said = ''
        return frame
      }
      return frame.replace(/data: (.*)\n/, (_, data: string) => {
        const delta: { offset?: number; delta: string } = JSON.parse(data)
        if (delta.offset !== undefined) said = text().slice(0, delta.offset)
        return `data: ${JSON.stringify({ ...delta, offset: [...said].length })}\n`
      })
    })
    return [new TextEncoder().encode(other.join(''))]
  }
  return { type: 'changed', pieces }
}

describe('30: a foreign server counts offsets in code points', () => {
  test.each([
    ['after it', ['😀', 'n', 'o', 'on']],
    ['and repeats itself', ['😀o', 'o', 'o', 'o!']],
    ['twice', ['a😀a', 'a', '😀a', 'a', 'a']],
  ])('and says short deltas %s: none is taken for known', async (_, parts) => {
    const whole = parts.join('')
    const world = createWorld()
    const model = scriptedModel(() => parts, { pace: () => world.env.sleep(50) })
    const server = startServer({ world, model, batch: 1 })
    const client = openClient(server)
    client.line.fault = () => inCodePoints(() => whole)
    const watched = watch(client)
    await client.session.send('go')
    let longest = ''
    await until(server, () => {
      const message = client.session.get().messages[1]
      if (message?.status === 'streaming') longest = shown([message])[0] ?? ''
      return message?.status === 'completed'
    })
    expect(whole.startsWith(longest)).toBe(true)
    watched.expectTruthful()
    expect(shown(await expectInStep(client))).toEqual(['go', whole])
  })

  test('surrogates that are split between deltas come out whole, and none is shown alone', async () => {
    const whole = 'a😀b👩‍👩‍👧c'
    const world = createWorld()
    const model = scriptedModel(() => whole, { chunkSize: 1, pace: () => world.env.sleep(20) })
    const server = startServer({ world, model, batch: 0 })
    const client = openClient(server)
    const seen: string[] = []
    client.session.subscribe(() => seen.push(shown(client.session.get().messages)[1] ?? ''))
    await ended(server, (await client.session.send('go')).answer)
    expect(seen.length).toBeGreaterThan(3)
    for (const text of seen) expect(text).not.toMatch(/\p{Surrogate}/u)
    expect(shown(await expectInStep(client))).toEqual(['go', whole])
  })
})
