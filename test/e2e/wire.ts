import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What lies between a browser and a server, and can go wrong: connections are carried byte by byte. */
export interface Wire {
  readonly port: number
  /** How many connections are open. */
  open(): number
  /** New connections are refused at once. */
  down: boolean
  /** Ends every connection as a proxy does that restarts. */
  cut(): void
  /** Nothing more comes through the connections that are there, and nobody is told: they are half open. */
  numb(): void
  close(): Promise<void>
}

/** Carries what comes to a port of its own on to another. */
export async function openWire(to: number): Promise<Wire> {
  const pairs = new Set<readonly [near: Socket, far: Socket]>()
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  const server = createServer((near) => {
    if (wire.down) return near.destroy()
    const far = connect(to, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [socket, other] of [pair, [far, near] as const]) {
      socket.setNoDelay(true)
      socket.pipe(other)
      // Told by `close`, which follows.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        pairs.delete(pair)
        other.destroy()
      })
    }
    return undefined
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire: Wire = {
    port: (server.address() as AddressInfo).port,
    open: () => pairs.size,
    down: false,
    cut,
    numb() {
      for (const pair of pairs)
        for (const socket of pair) {
          socket.unpipe()
          socket.pause()
        }
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
  return wire
}
