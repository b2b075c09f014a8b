import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Heard {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
  /** Resolves when the other side is gone before the answer was whole. */
  left: Promise<void>
}

/** A provider on a real port that keeps what it hears. */
export async function upstream(
  answer: (response: ServerResponse, heard: Heard, request: IncomingMessage) => void = (response) =>
    response.end('{}'),
): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const left = new Promise<void>((resolve) =>
      response.on('close', () => response.writableEnded || resolve()),
    )
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body, left }
    heard.push(one)
    answer(response, one, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, heard }
}
