/**
 * A chat server in a process of its own, to be killed: `killable.ts <file> <lease in ms> [mute]`. Prints its port. Asked to note
 * something, its model has that noted in `<file>.notes`; one that is `mute` says nothing after that.
 */
import { appendFileSync } from 'node:fs'
import { serve } from '@hono/node-server'
import { platformEnv } from '../../src/lib/env.ts'
import { textOf } from '../../src/message/text.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'

const [, , file = ':memory:', lease = '1000', mode] = process.argv

/** Counts without end, a number every few milliseconds. */
const counting: ScriptStep = Array.from({ length: 100_000 }, (_, at) => `${at} `)

const model = scriptedModel(
  ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return mode === 'mute' ? [{ stall: true }] : 'Noted.'
    if (last && textOf(last) === 'Note it.') return [{ toolCall: { name: 'note', arguments: {} } }]
    return counting
  },
  { pace: () => platformEnv.sleep(2) },
)
const note = tool({ name: 'note', parameters: {}, execute: () => appendFileSync(`${file}.notes`, 'noted\n') })
const chat = createChatHandler({
  ...{ store: sqliteStore(file), model, tools: [note] },
  ...{ lease: Number(lease), heartbeat: 100 },
})
await chat.start()
serve({ fetch: (request) => chat.fetch(request), port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.stdout.write(`${port}\n`)
})
