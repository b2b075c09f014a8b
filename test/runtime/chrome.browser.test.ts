import { expect, test } from 'vitest'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import { chromeAvailability, chromeModel } from '../../src/chrome.ts'
import { userMessage } from '../support/messages.ts'

test('a browser without a model says so, whether it knows the API or not', async () => {
  expect(await chromeAvailability()).toBe('unavailable')
  const events: ModelEvent[] = []
  for await (const event of chromeModel().stream({ messages: [userMessage('u', 'Hi')] })) events.push(event)
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    type: 'error',
    reason: 'error',
    error: {
      code: 'not-found',
      provider: 'chrome',
      message: expect.stringMatching(/built-in model (is unavailable|.*no LanguageModel)|no built-in model/),
    },
  })
})
