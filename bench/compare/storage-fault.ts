import type { BrowserContext } from 'playwright-core'

declare global {
  interface Window {
    /** How many writes were broken; -1: no more are. */
    writesBroken: number
  }
}

/** In the first page of a profile, the n-th write to IndexedDB aborts its transaction. */
export async function breakWrites(context: BrowserContext, n: number): Promise<void> {
  await context.addInitScript((which: number) => {
    if (localStorage.getItem('broken')) {
      window.writesBroken = -1
      return
    }
    localStorage.setItem('broken', 'yes')
    window.writesBroken = 0
    let count = 0
    for (const name of ['put', 'add', 'delete'] as const) {
      const write = IDBObjectStore.prototype[name]
      IDBObjectStore.prototype[name] = function (this: IDBObjectStore, ...args: never[]) {
        const request = Reflect.apply(write, this, args)
        count += 1
        if (count === which && window.writesBroken === 0) {
          window.writesBroken += 1
          this.transaction.abort()
        }
        return request
      }
    }
  }, n)
}
