import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { aiSdkBackend } from './ai-sdk-server.ts'
import type { Backend, OpenBackend } from './backend.ts'
import { type Faults, type Line, newLine, through } from './faults.ts'
import { tanstackBackend } from './tanstack-server.ts'
import { tidemarkBackend } from './tidemark-server.ts'

const BACKENDS: Readonly<Record<string, OpenBackend>> = {
  tidemark: tidemarkBackend,
  'ai-sdk': aiSdkBackend,
  tanstack: tanstackBackend,
}

/** A chat as the comparison leads it. */
export interface ServedChat {
  url: string
  runs(): number
  /** Lets a run that is held go on. */
  release(): void
  /** Bytes that were said on its event streams. */
  bytes(): number
}

interface Served {
  backend: Backend
  line: Line
}

export interface CompareServer {
  origin: string
  chat(library: string, id: string, given?: { faults?: Faults; holdBefore?: number }): ServedChat
  close(): Promise<void>
}

const page = `<!doctype html><meta charset="utf-8"><title>comparison</title><link rel="icon" href="data:,">
<div id="root"></div><script type="module" src="/page.js"></script>`

async function answer({ backend, line }: Served, request: Request, path: string, outgoing: ServerResponse) {
  const response = await backend.fetch(request, path)
  const asks = request.method === 'POST' && (path === '' || path.endsWith('/messages'))
  if (asks) line.questions += 1
  if (asks && line.questions === 1 && line.faults.loseAnswer) {
    outgoing.destroy()
    return new Response(null)
  }
  const { body, headers, status } = response
  if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response
  return new Response(
    through(line, body, () => outgoing.destroy()),
    { status, headers },
  )
}

/** Serves the page and a chat per address: `/<library>/<chat>`. */
export async function serveComparison(bundle: string): Promise<CompareServer> {
  const chats = new Map<string, Served>()
  const listener = getRequestListener(async (request, { outgoing }) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/') return new Response(page, { headers: { 'content-type': 'text/html' } })
    if (pathname === '/page.js')
      return new Response(readFileSync(bundle), { headers: { 'content-type': 'text/javascript' } })
    const [, library, id, ...rest] = pathname.split('/')
    const served = chats.get(`${library}/${id}`)
    if (!served || !('destroyed' in outgoing)) return new Response(null, { status: 404 })
    return await answer(served, request, rest.join('/'), outgoing as ServerResponse)
  })
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server without a port')
  const origin = `http://127.0.0.1:${address.port}`
  return {
    origin,
    chat(library, id, { faults = {}, holdBefore } = {}) {
      const open = BACKENDS[library]
      if (!open) throw new Error(`${library}: not compared`)
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const backend = open({ holdBefore, released })
      const line = newLine(faults)
      chats.set(`${library}/${id}`, { backend, line })
      return {
        url: `${origin}/${library}/${id}`,
        runs: backend.runs,
        release: () => release(),
        bytes: () => line.said.reduce((sum, { length }) => sum + length, 0),
      }
    },
    async close() {
      for (const { backend } of chats.values()) await backend.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
