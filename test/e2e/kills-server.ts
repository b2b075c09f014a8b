/**
 * A chat server, the page that talks to it, and a model for both, in a process of its own, to be killed:
 * `kills-server.ts <file of the database> <file of the page's script> <port> <world>`. Prints its port.
 */
import { readFileSync } from 'node:fs'
import { openaiChat } from 'tidemark/openai-chat'
import { createChatHandler } from 'tidemark/server'
import { sqliteStore } from 'tidemark/server/sqlite'
import { listen } from '../../demo/server/listen.ts'
import { chargingTools } from './kills-tools.ts'

const [, , file = '', script = '', asked = '0', world = ''] = process.argv

const frame = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** Calls a tool first, and ends when it has its result: as the history says, so that it goes on after any crash. */
async function complete(request: Request): Promise<Response> {
  const { messages } = await request.json()
  const question = messages.findLastIndex(({ role }: { role: string }) => role === 'user')
  const isAnswered = messages.slice(question).some(({ role }: { role: string }) => role === 'tool')
  if (isAnswered) await fetch(`${world}/model`, { method: 'POST' })
  const name = String(messages[question].content).includes('approval') ? 'ask' : 'charge'
  const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{"what":"tea"}' } }
  const said = isAnswered
    ? frame({ content: 'All done.' }, null) + frame({}, 'stop')
    : frame({ tool_calls: [call] }, null) + frame({}, 'tool_calls')
  return new Response(`${said}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}

const html = '<!doctype html><title>Kills</title><script type="module" src="/page.js"></script>'

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/llm/')) return complete(request)
  if (pathname.startsWith('/sessions')) return chat.fetch(request)
  const isScript = pathname === '/page.js'
  return new Response(isScript ? readFileSync(script) : html, {
    headers: { 'content-type': isScript ? 'text/javascript' : 'text/html' },
  })
}

const { port } = await listen(answer, { port: Number(asked) })
const chat = createChatHandler({
  store: sqliteStore(file),
  model: openaiChat('scripted', { baseURL: `http://127.0.0.1:${port}/llm` }),
  tools: chargingTools(world),
  lease: 1_000,
  heartbeat: 500,
})
await chat.start()
process.stdout.write(`${port}\n`)
