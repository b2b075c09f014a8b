import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ModelServer {
  url: string
  /** Requests as they came. */
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
  /** Resolves when the connection of the last answer is closed, by whoever. */
  closed(): Promise<void>
  stop(): Promise<void>
}

/** A server on a free port that answers every request with `answer`. */
export async function modelServer(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<ModelServer> {
  const requests: ModelServer['requests'] = []
  let closed = new Promise<void>(() => {})
  const server = createServer((request, response) => {
    closed = new Promise((resolve) => response.once('close', resolve))
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      requests.push({ method, url, headers, body })
      answer(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    closed: () => closed,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
