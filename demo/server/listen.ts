import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'

type Fetch = (request: Request) => Response | Promise<Response>

export interface ListenOptions {
  /** 0: any free one. */
  port: number
  /** @default '127.0.0.1' */
  host?: string
  /** How many ports above it are tried where it is taken. @default 0 */
  tries?: number
}

export interface Listening {
  port: number
  /** Ends open connections, too. */
  close(): Promise<void>
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port')
  return address.port
}

/** Serves a web-standard handler over HTTP/1.1. */
export async function listen(fetch: Fetch, options: ListenOptions): Promise<Listening> {
  const { port, host = '127.0.0.1', tries = 0 } = options
  const server = createServer(getRequestListener(fetch))
  for (let next = port; ; next += 1) {
    try {
      await bind(server, next, host)
      break
    } catch (error) {
      if (!isTaken(error) || port === 0 || next >= port + tries) throw error
    }
  }
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
