import { describe, expect, test, vi } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import type { ModelContext, ModelEvent } from '../../src/adapters/contract.ts'
import { chromeModel } from '../../src/chrome.ts'
import { userMessage } from '../support/messages.ts'
import { fakeLanguageModel } from './fake-language-model.ts'

const hi: ModelContext = { messages: [userMessage('u', 'Hi there')] }

describe('a call that is aborted', () => {
  test('keeps what came so far', async () => {
    const abort = new AbortController()
    const held = new Promise<void>(() => {})
    const languageModel = fakeLanguageModel({ answer: ['Hal', held] })
    const events: ModelEvent[] = []
    for await (const event of chromeModel({ languageModel }).stream(hi, { signal: abort.signal })) {
      events.push(event)
      if (event.type === 'text') abort.abort()
    }
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      reason: 'aborted',
      message: { stopReason: 'aborted', content: [{ type: 'text', text: 'Hal' }] },
    })
    expect(languageModel.alive()).toBe(0)
  })

  test('before it began makes no session', async () => {
    const languageModel = fakeLanguageModel()
    const stream = chromeModel({ languageModel }).stream(hi, { signal: AbortSignal.abort() })
    expect((await collect(stream)).stopReason).toBe('aborted')
    expect(languageModel.created).toEqual([])
  })

  test('while the model is loaded ends at once, and lets go of the session that comes too late', async () => {
    const abort = new AbortController()
    let load = (): void => {}
    const creating = new Promise<void>((resolve) => {
      load = resolve
    })
    const languageModel = fakeLanguageModel({ creating })
    const model = chromeModel({ languageModel, onDownload: (loaded) => loaded === 1 && abort.abort() })
    const events: ModelEvent[] = []
    for await (const event of model.stream(hi, { signal: abort.signal })) events.push(event)
    expect(events).toMatchObject([{ type: 'error', reason: 'aborted' }])
    load()
    await vi.waitFor(() => expect(languageModel.created).toHaveLength(1))
    await vi.waitFor(() => expect(languageModel.alive()).toBe(0))
  })

  test('by its reader’s leaving lets go of the session', async () => {
    const languageModel = fakeLanguageModel({ answer: ['a', 'b'] })
    for await (const event of chromeModel({ languageModel }).stream(hi)) if (event.type === 'text') break
    expect(languageModel.alive()).toBe(0)
  })
})
