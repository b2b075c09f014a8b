/** A chat server in a process of its own, to be killed: `killable.ts <file> <lease in ms>`. Prints its port. */
import { serve } from '@hono/node-server'
import { platformEnv } from '../../src/lib/env.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const [, , file = ':memory:', lease = '1000'] = process.argv

/** Counts without end, a number every few milliseconds. */
const model = scriptedModel(() => Array.from({ length: 100_000 }, (_, at) => `${at} `), {
  pace: () => platformEnv.sleep(2),
})
const chat = createChatHandler({ store: sqliteStore(file), model, lease: Number(lease), heartbeat: 100 })
await chat.start()
serve({ fetch: (request) => chat.fetch(request), port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`${port}\n`)
})
