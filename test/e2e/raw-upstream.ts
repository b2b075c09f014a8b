import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod/mini'

/** An answer as raw bytes, and where the network cuts them. */
export interface RawAnswer {
  status: number
  contentType: string
  pieces: readonly Uint8Array[]
}

const Asked = z.looseObject({ model: z.string() })

/** Each piece goes out alone: the next one waits until it has left this process. */
async function write(response: ServerResponse, { status, contentType, pieces }: RawAnswer): Promise<void> {
  response.writeHead(status, { 'content-type': contentType })
  for (const piece of pieces) await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  response.end()
}

/** A server that answers each request with the bytes that stand for the model it names. */
export async function startRawUpstream(
  answerTo: (model: string) => RawAnswer | undefined,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const text of request.setEncoding('utf8')) body += text
    const answer = answerTo(Asked.parse(JSON.parse(body)).model)
    if (answer) await write(response, answer)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
