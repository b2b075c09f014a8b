import { join } from 'node:path'
import { root } from '../scripts/bootstrap.mjs'
import { startDemo } from './server/demo.ts'

const { env } = process

const demo = await startDemo({
  database: env.TIDEMARK_DB || join(root, '.data', 'tidemark.db'),
  port: env.PORT ? Number(env.PORT) : 5173,
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
