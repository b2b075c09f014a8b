import { createServer, type Server } from 'node:http'

/**
 * A chat server written from one paragraph of the protocol, "minimal servers are welcome": it answers a message with four
 * events, without ids, offsets, revisions or content at the end, and lists messages after a message. Nothing else.
 */
export function minimalServer(
  answer: (text: string) => readonly string[],
  pause: () => Promise<void>,
): Server {
  const rows: { id: string; role: string; content: string }[] = []
  return createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (!/^\/sessions\/[^/]+\/messages$/.test(pathname)) return void response.writeHead(404).end()
    if (request.method === 'GET') {
      const after = rows.findIndex(({ id }) => id === searchParams.get('after'))
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ messages: rows.slice(after + 1) }))
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, content } = JSON.parse(body)
    const say = (event: string, data: object) =>
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    rows.push({ id, role: 'user', content: content[0].text })
    const reply = { id: `answer-${id}`, role: 'assistant', content: '' }
    say('message_started', { id: reply.id })
    for (const delta of answer(content[0].text)) {
      await pause()
      reply.content += delta
      say('message_delta', { id: reply.id, delta })
    }
    rows.push(reply)
    say('message_completed', { id: reply.id })
    response.end()
  })
}
