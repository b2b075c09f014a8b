import { createChat, type Env, memoryStorage, remote } from 'tidemark'
import { openWire, runOf, SESSION_ID } from './wire.ts'

/** How many times as fast as the day the client's clock goes. */
const HASTE = 100

/** A clock in haste, so that a line may be down for minutes. */
const env: Partial<Env> = {
  now: () => performance.now() * HASTE,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms / HASTE)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
    }),
}

/**
 * A line that fails for so long, and then does not: how long it takes until the client has everything again, by itself.
 * Both in milliseconds of the client's clock.
 */
export async function measureHealing(down: number): Promise<number> {
  const wire = openWire()
  const runtime = remote({ url: 'http://live.invalid', fetch: wire.fetch })
  const chat = createChat({ storage: memoryStorage(), runtime, env })
  const session = chat.session(SESSION_ID)
  const run = runOf(0)
  wire.say([...run.begin(), run.delta('It is ')])
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await until(() => session.message(run.id).get()?.status === 'streaming')
  wire.down()
  await new Promise((resolve) => setTimeout(resolve, down / HASTE))
  wire.say([run.delta('a mark.'), ...run.end()])
  wire.up()
  const start = performance.now()
  await until(() => session.message(run.id).get()?.status === 'completed')
  const took = (performance.now() - start) * HASTE
  await chat.close()
  return took
}
