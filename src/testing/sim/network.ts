import { type Connection, carry, fail, type Wire } from './connection.ts'
import type { Actor, Schedule } from './schedule.ts'

/** What can happen to a request on its way, to its answer, or to a piece of the answer. */
export type NetworkFault =
  /** It does not arrive; the client is told. */
  | 'refuse'
  /** It does not arrive, or its answer does not, and for two minutes nobody is told. */
  | 'vanish'
  /** It arrives twice. */
  | 'double'
  /** It was carried out, and the answer is lost. */
  | 'lose'
  /** It takes seconds. */
  | 'delay'
  /** The connection is reset. */
  | 'cut'
  /** The answer ends early, as if that were all. */
  | 'end'
  /** Nothing comes any more, and nobody is told. */
  | 'stall'
  /** What comes from now on is held back for a while, as by a proxy. */
  | 'buffer'
  /** It comes byte by byte. */
  | 'tear'
  /** An event comes twice. */
  | 'repeat'
  /** An event is left out. */
  | 'drop'
  /** Two events change places. */
  | 'swap'

export type NetworkStage = 'request' | 'answer' | 'piece'

export interface NetworkOptions {
  /** Answers a request, as a server's handler does. */
  answer(request: Request): Promise<Response>
  /** Who answers now; refused where it is dead. */
  server(): Actor
  /** Decides what goes wrong; undefined: nothing. */
  fault?: (stage: NetworkStage, request: Request) => NetworkFault | undefined
}

/** A network between simulated tabs and a server in the same process. */
export interface Network {
  /** `fetch` as a tab has it. */
  fetch(actor: Actor): typeof fetch
  /** Requests that a tab has begun so far. */
  requests(actor: Actor): number
  /** Without a line, nothing arrives; what was open is reset, or stalls. */
  line(actor: Actor, online: boolean): void
  /** After its actor was killed or is asleep: the other side hears of it, or does not. */
  gone(actor: Actor): void
}

/** Turns of the event loop for which something that computes elsewhere is waited for: seconds, on a machine that is busy. */
const TURNS = 200_000

/**
 * Lets a promise end that waits for nothing virtual: what computes elsewhere takes its real time, at the same virtual one.
 * Who is dead ends nothing.
 */
async function ended(promise: Promise<unknown>, server: Actor): Promise<void> {
  let over = false
  const note = () => {
    over = true
  }
  promise.then(note, note)
  for (let turns = 0; !over && turns < TURNS && server.state !== 'dead'; turns++)
    await new Promise((resolve) => setImmediate(resolve))
}

/** Milliseconds after which somebody gives a dead connection up. */
const GIVE_UP = 120_000

/** One request, from its first byte to the answer's last. */
function send(wire: Wire, connection: Connection, request: Request): void {
  const { schedule, options } = wire
  const { chance } = schedule
  const fault = options.fault?.('request', request)
  const post = (delay: number, run: () => void | Promise<void>) =>
    schedule.post({
      actor: wire.actor,
      label: `${request.method} ${new URL(request.url).pathname}`,
      delay,
      run,
    })

  const arrive = async (): Promise<void> => {
    const server = options.server()
    if (fault === 'vanish') return void post(GIVE_UP, () => fail(wire, connection))
    if (fault === 'refuse' || wire.offline.has(connection.client) || server.state === 'dead')
      return fail(wire, connection)
    // What was aborted on its way may have been sent already.
    if (connection.over && chance.happens(0.5)) return
    if (connection.over) connection.abort.abort()
    connection.server = server
    const copy = fault === 'double' ? request.clone() : undefined
    const again = (twin: Request) => options.answer(twin).then(({ body }) => body?.cancel())
    if (copy) post(chance.int(2_000), () => ended(again(copy), options.server()))
    await ended(
      options.answer(request).then((response) => take(response)),
      server,
    )
  }
  const take = (response: Response): void => {
    if (connection.server?.state === 'dead') return
    const lost = options.fault?.('answer', request)
    if (lost !== 'lose' && lost !== 'vanish') {
      carry(wire, connection, response, request, lost)
      return
    }
    connection.abort.abort()
    void response.body?.cancel()
    post(lost === 'lose' ? chance.int(100) : GIVE_UP, () => fail(wire, connection))
  }
  post(fault === 'delay' ? 1_000 + chance.int(20_000) : chance.int(20), arrive)
}

function open(wire: Wire, client: Actor, input: string, init: RequestInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { signal } = init
    const abort = new AbortController()
    const connection: Connection = {
      number: ++wire.count,
      client,
      server: undefined,
      abort,
      over: false,
      stalled: false,
      resolve,
      reject,
      controller: undefined,
      held: 0,
    }
    const request = new Request(input, {
      method: init.method ?? 'GET',
      headers: init.headers ?? {},
      signal: abort.signal,
      ...(init.body && { body: init.body }),
    })
    const onAbort = () => {
      const reason = new DOMException('aborted', 'AbortError')
      connection.over = true
      reject(reason)
      connection.controller?.error(reason)
      wire.open.delete(connection)
      wire.schedule.post({
        actor: wire.actor,
        label: 'hang up',
        delay: wire.schedule.chance.int(20),
        run: () => abort.abort(),
      })
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', () => connection.over || onAbort(), { once: true })
    wire.open.add(connection)
    send(wire, connection, request)
  })
}

/** Resets what is open, or lets it stall. */
function lose(wire: Wire, connection: Connection): void {
  const { schedule } = wire
  const stalls = schedule.chance.happens(0.5)
  connection.stalled = true
  const delay = stalls ? GIVE_UP : schedule.chance.int(100)
  schedule.post({ actor: wire.actor, label: 'reset', delay, run: () => fail(wire, connection) })
}

/** A network for simulations: `Request` in, `Response` out, and everything that can happen between. */
export function createNetwork(schedule: Schedule, options: NetworkOptions): Network {
  const wire: Wire = {
    schedule,
    options,
    actor: schedule.actor('network'),
    open: new Set(),
    offline: new Set(),
    count: 0,
  }
  const requests = new Map<Actor, number>()
  const gone = (actor: Actor) => {
    for (const connection of wire.open)
      if (connection.client === actor || connection.server === actor) lose(wire, connection)
  }
  return {
    fetch: (actor) => async (input, init) => {
      requests.set(actor, (requests.get(actor) ?? 0) + 1)
      return open(wire, actor, String(input), init ?? {})
    },
    requests: (actor) => requests.get(actor) ?? 0,
    line(actor, online) {
      if (online) wire.offline.delete(actor)
      else {
        wire.offline.add(actor)
        gone(actor)
      }
    },
    gone,
  }
}
