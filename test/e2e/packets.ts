import { setTimeout } from 'node:timers/promises'
import { isEvents } from '../runtime/remote-chat.ts'
import type { Server } from '../runtime/scripted-server.ts'

/** Bytes written at once come at once: a piece that begins inside a character, or behind a CR, waits for its own packet. */
export function inPackets(server: Server): void {
  const { spoil } = server
  server.spoil = async (given, seen) => {
    const response = (await spoil?.(given, seen)) ?? given
    if (!isEvents(response) || !response.body) return response
    const through = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const [begin = 0] = chunk
        if ((begin & 0xc0) === 0x80 || begin === 10) await setTimeout(3)
        controller.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(through), response)
  }
}
