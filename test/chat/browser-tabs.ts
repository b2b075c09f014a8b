import { onTestFinished, vi } from 'vitest'
import type { Locks } from '../../src/chat/platform.ts'
import { platformEnv } from '../../src/lib/env.ts'

type Grant = () => void

/** Web Locks as far as tabs use them: exclusive, in the order of asking, given up by abort. */
function lockManager(): Locks {
  const queues = new Map<string, Grant[]>()
  const request: Locks['request'] = async (name, options, body) => {
    const queue = queues.get(name) ?? []
    queues.set(name, queue)
    if ('ifAvailable' in options && queue.length > 0) return body(null)
    await new Promise<void>((resolve, reject) => {
      queue.push(resolve)
      if (queue.length === 1) resolve()
      if (!('signal' in options)) return
      const { signal } = options
      signal.addEventListener('abort', () => {
        const at = queue.indexOf(resolve)
        if (at <= 0) return
        queue.splice(at, 1)
        reject(signal.reason)
      })
    })
    try {
      return await body({})
    } finally {
      queue.shift()
      queue[0]?.()
    }
  }
  return { request }
}

/** Gives this test the locks of a browser; Node has channels of its own. Returns a name for its tabs to share. */
export function likeBrowser(): string {
  vi.stubGlobal('navigator', { locks: lockManager(), onLine: true })
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  return `tabs-${platformEnv.createId()}`
}
