import { join } from 'node:path'
import { root } from '../scripts/bootstrap.mjs'
import { startDemo } from './server/demo.ts'

const { env } = process

/** Says what is wrong with it rather than where Node trips over it. */
function portFrom(text: string | undefined): number {
  if (!text) return 5173
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new Error(`PORT: expected a whole number from 0 to 65535, not "${text}"`)
}

const demo = await startDemo({
  database: env.TIDEMARK_DB || join(root, '.data', 'tidemark.db'),
  port: portFrom(env.PORT),
  // Where it is taken, the next free one.
  tries: 50,
  host: env.HOST || '127.0.0.1',
  env,
})
console.log(demo.url)

const stop = async () => {
  await demo.close()
  process.exit(0)
}
process.once('SIGINT', stop)
process.once('SIGTERM', stop)
