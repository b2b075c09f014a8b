import { describe, expect, test } from 'vitest'
import { createTabs } from '../../src/chat/tabs.ts'
import { platformEnv } from '../../src/lib/env.ts'
import { likeBrowser } from './browser-tabs.ts'
import { idle, noStrayRejections } from './world.ts'

noStrayRejections()

type On = (sessionId: string) => void

const nothing = () => {}

const tabsOf = (name: string | undefined, onStored: On = nothing, onGrown: On = nothing, steals = true) =>
  createTabs({
    platform: globalThis,
    env: platformEnv,
    name,
    steals,
    onStored,
    onGrown,
    onSilent: nothing,
    onFull: nothing,
  })

describe('tabs', () => {
  test('without a name, or a browser’s locks, work alone', () => {
    let led = 0
    tabsOf(undefined).lead('s', () => led++)
    tabsOf('name').lead('s', () => led++)
    expect(led).toBe(2)
  })

  test('that are refused their lock work alone, too', async () => {
    likeBrowser()
    Object.assign(navigator.locks, {
      request: async () => {
        throw new DOMException('opaque origin', 'SecurityError')
      },
    })
    let led = 0
    const tabs = tabsOf('name')
    tabs.lead('s', () => led++)
    await idle()
    expect(led).toBe(1)
    tabs.close()
  })

  test('lead one after the other, and not at all once given up', async () => {
    const name = likeBrowser()
    const led: string[] = []
    const [a, b, c] = ['a', 'b', 'c'].map((who) => {
      const tabs = tabsOf(name)
      return { tabs, leave: tabs.lead('s', () => led.push(who)) }
    })
    await idle()
    expect(led).toEqual(['a'])
    b?.leave()
    a?.leave()
    await idle()
    expect(led).toEqual(['a', 'c'])
    for (const tab of [a, b, c]) tab?.tabs.close()
    c?.tabs.post({ type: 'stored', sessionId: 's' })
  })

  test('hear what others stored, and nothing that is no such word', async () => {
    const name = likeBrowser()
    const heard: string[] = []
    const tabs = tabsOf(name, (sessionId) => heard.push(sessionId))
    const other = tabsOf(name)
    const stranger = new BroadcastChannel(`tidemark:${name}`)
    for (const word of [
      null,
      1,
      'stored',
      {},
      { type: 'stored' },
      { type: 'stored', sessionId: 1 },
      { type: 'x', sessionId: 's' },
    ])
      stranger.postMessage(word)
    other.post({ type: 'stored', sessionId: 's' })
    await expect.poll(() => heard).toEqual(['s'])
    stranger.close()
    other.close()
    tabs.close()
  })

  test.each([true, false])(
    'tell what grows only where another looks on, whoever leads (%s)',
    async (steals) => {
      const name = likeBrowser()
      const heard: string[] = []
      const open = (who: string) => {
        const tabs = tabsOf(name, undefined, () => heard.push(who), steals)
        return { tabs, leave: tabs.lead('s', () => {}) }
      }
      let made = 0
      const grow = ({ tabs }: ReturnType<typeof open>) => {
        tabs.grew('s', () => ++made)
        return made
      }
      const a = open('a')
      await idle()
      grow(a)
      expect(made).toBe(0)
      const b = open('b')
      const c = open('c')
      await expect.poll(() => grow(a)).toBeGreaterThan(0)
      await expect.poll(() => new Set(heard)).toEqual(new Set(['b', 'c']))
      a.leave()
      a.tabs.close()
      await idle()
      made = 0
      heard.length = 0
      await expect.poll(() => grow(b)).toBeGreaterThan(0)
      await expect.poll(() => new Set(heard)).toEqual(new Set(['c']))
      for (const { tabs } of [b, c]) tabs.close()
    },
  )
})
