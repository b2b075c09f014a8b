import type { Change, ChatStorage } from '../../src/chat/ports.ts'
import type { EventBatch, Runtime } from '../../src/chat/runtime-port.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Message } from '../../src/message/schema.ts'
import type { Envelope } from '../../src/protocol/events.ts'
import { PLANTED_SERVER } from './planted-server.ts'
import type { Planted } from './world.ts'

/** A mistake, made on purpose. `hit` notes each time that it is made. */
export type Plant = (hit: () => void) => Planted

/** A storage that does something else with some batches. */
const commits =
  (commit: (inner: ChatStorage['commit'], hit: () => void) => ChatStorage['commit']): Plant =>
  (hit) => ({
    storage: (storage) => ({ ...storage, commit: commit(storage.commit, hit) }),
  })

/** A storage that leaves changes of a kind out. */
const forgets = (isForgotten: (change: Change) => boolean): Plant =>
  commits((inner, hit) => (changes, options) => {
    const kept = changes.filter((change) => !isForgotten(change))
    if (kept.length < changes.length) hit()
    return inner(kept, options)
  })

/** A runtime that hears something else on a feed. */
const hears =
  (listen: (batches: AsyncIterable<EventBatch>, hit: () => void) => AsyncIterable<EventBatch>): Plant =>
  (hit) => ({
    runtime: (runtime) => ({
      ...runtime,
      follow: (...given) => listen(runtime.follow(...given), hit),
      async dispatch(...given) {
        const accepted = await runtime.dispatch(...given)
        return accepted.events ? { ...accepted, events: listen(accepted.events, hit) } : accepted
      },
    }),
  })

async function* mapped(
  batches: AsyncIterable<EventBatch>,
  each: (envelope: Envelope) => Envelope[],
): AsyncGenerator<EventBatch> {
  for await (const batch of batches) yield { ...batch, envelopes: batch.envelopes.flatMap(each) }
}

async function* completedByTheEnd(batches: AsyncIterable<EventBatch>, hit: () => void) {
  const open = new Set<string>()
  try {
    for await (const batch of batches) {
      for (const { event } of batch.envelopes) {
        if (event.type === 'message.delta') open.add(event.id)
        else if (event.type === 'message.completed') open.delete(event.message.id)
      }
      yield batch
    }
  } catch {
    // A lost line counts as an end as well.
  }
  const envelopes = [...open].map((id): Envelope => ({ event: { type: 'message.finished', id } }))
  if (envelopes.length > 0) hit()
  yield { envelopes, malformed: 0 }
}

const pages =
  (change: (page: Awaited<ReturnType<Runtime['page']>>['page'], hit: () => void) => typeof page): Plant =>
  (hit) => ({
    runtime: (runtime) => ({
      ...runtime,
      async page(...given) {
        const answer = await runtime.page(...given)
        return { ...answer, page: change(answer.page, hit) }
      },
    }),
  })

/** Bytes of an answer without the comments of its event stream. */
const withoutComments = (response: Response, hit: () => void): Response => {
  const isComment = (bytes: Uint8Array) => bytes[0] === 58
  const quiet = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (isComment(bytes)) hit()
      else controller.enqueue(bytes)
    },
  })
  const isStream = response.headers.get('content-type')?.includes('event-stream')
  return isStream && response.body ? new Response(response.body.pipeThrough(quiet), response) : response
}

/** Asks anew, under another key, where the line was lost. */
const newKeys: Plant = (hit) => ({
  runtime: (runtime) => ({
    ...runtime,
    async dispatch(request, context) {
      try {
        return await runtime.dispatch(request, context)
      } catch (thrown) {
        const isLost = thrown instanceof TidemarkError && thrown.code === 'network'
        if (!isLost || request.type !== 'send') throw thrown
        hit()
        const { id, runId } = request.body
        const body = { ...request.body, id: `${id}x`, runId: `${runId}x` }
        return runtime.dispatch({ ...request, body }, { ...context, key: body.id })
      }
    },
  }),
})

/** Every planted fault, by what is wrong. */
export const PLANTED: Readonly<Record<string, Plant>> = {
  ...PLANTED_SERVER,
  'a cursor is stored ahead of its rows': commits((inner, hit) => async (changes, options) => {
    const ahead = changes.filter(({ type }) => type === 'session')
    if (ahead.length > 0 && ahead.length < changes.length) {
      hit()
      await inner(ahead, options)
    }
    await inner(changes, options)
  }),
  'pieces of an answer are not stored': forgets(({ type }) => type === 'journal'),
  'what was sent stays in the outbox': forgets(({ type }) => type === 'deleteOutbox'),
  'what is to be sent is not stored': forgets(({ type }) => type === 'outbox'),
  'every fourth batch is said to be stored and is not': (hit) => {
    let count = 0
    return commits((inner) => async (changes, options) => {
      if (++count % 4 !== 0) return inner(changes, options)
      hit()
    })(hit)
  },
  'what was built on less than is stored is written': commits((inner, hit) => (changes, options) => {
    if (options?.guards?.some(({ type }) => type === 'epoch')) hit()
    return inner(changes, { ...options, guards: [] })
  }),
  'a stale claim is written': commits((inner, hit) => (changes, options) => {
    if (!changes.some((change) => change.type === 'outbox' && change.row.claim !== null))
      return inner(changes, options)
    hit()
    return inner(changes, { ...options, guards: [] })
  }),
  'a row is sent under another account': (hit) => ({
    identity({ headers }) {
      hit()
      return headers
    },
  }),
  'nobody notices that a backup was restored': hears((batches, hit) =>
    mapped(batches, (envelope) => {
      const { event } = envelope
      if (event.type !== 'gap' || event.reason !== 'diverged') return [envelope]
      hit()
      return []
    }),
  ),
  'what is stored does not say that it is of another history': commits((inner, hit) => (changes, options) => {
    for (const change of changes) if (change.type === 'session' && change.row.term) hit()
    const silent = changes.map((change) =>
      change.type === 'session' ? { ...change, row: { ...change.row, term: 0 } } : change,
    )
    return inner(silent, options)
  }),
  'a key is used twice': (hit) => ({
    env(env) {
      let last = env.createId()
      let count = 0
      return {
        ...env,
        createId() {
          if (++count % 5 === 0) hit()
          else last = env.createId()
          return last
        },
      }
    },
  }),
  'a lost answer is asked for under a new key': newKeys,
  'an overlap is appended': hears((batches, hit) =>
    mapped(batches, (envelope) => {
      const { event } = envelope
      if (event.type !== 'message.delta' || event.block) return [envelope]
      hit()
      const { offset: _, ...unplaced } = event
      return [envelope, { event: unplaced }]
    }),
  ),
  'the end of the bytes completes an answer': hears(completedByTheEnd),
  'a settled answer streams again': hears((batches, hit) =>
    mapped(batches, (envelope) => {
      if (envelope.event.type !== 'message.completed') return [envelope]
      hit()
      const { id, rev = 0 } = envelope.event.message
      const message = { ...envelope.event.message, status: 'streaming' as const, rev: rev + 1 }
      return [envelope, { event: { type: 'message.updated', message: { ...message, id } } }]
    }),
  ),
  'a page loses its last row': pages((page, hit) => {
    if (page.messages.length > 1) hit()
    return page.messages.length > 1 ? { ...page, messages: page.messages.slice(0, -1) } : page
  }),
  'a page is said to reach further than it does': pages((page, hit) => {
    if (page.messages.length === 0) return page
    hit()
    return { ...page, rev: (page.rev ?? 0) + 2 }
  }),
  'a message takes its place from a clock': (hit) => ({
    runtime(runtime, { skew }) {
      const byClock = <T extends Message>(message: T): T => {
        hit()
        return { ...message, seq: message.createdAt + skew }
      }
      return {
        ...runtime,
        follow: (...given) =>
          mapped(runtime.follow(...given), (envelope) =>
            envelope.event.type === 'message.created'
              ? [{ ...envelope, event: { ...envelope.event, message: byClock(envelope.event.message) } }]
              : [envelope],
          ),
      }
    },
  }),
  'comments do not count as life': (hit) => ({
    fetch:
      (fetchIt) =>
      async (...given) =>
        withoutComments(await fetchIt(...given), hit),
  }),
  'tabs do not hear each other': (hit) => ({
    page(page) {
      const { BroadcastChannel: Open } = page.platform
      if (!Open) return page
      const deaf = function opened(name: string) {
        return Object.assign(new Open(name), { postMessage: hit })
      } as unknown as typeof Open
      return { ...page, platform: { ...page.platform, BroadcastChannel: deaf } }
    },
  }),
  'a wait that was given up goes on': (hit) => ({
    env: (env) => ({
      ...env,
      sleep(ms, signal) {
        signal?.addEventListener('abort', hit, { once: true })
        return env.sleep(ms)
      },
    }),
  }),
  'a page is listened to for ever': (hit) => ({
    page: (page) => ({ ...page, platform: { ...page.platform, removeEventListener: hit } }),
  }),
}
