import { expect, onTestFinished, test } from 'vitest'
import { geminiInteractions } from '../../src/gemini.ts'
import { textOf } from '../../src/message/text.ts'
import { completed, created, delta, says, start } from '../adapters/interaction-events.ts'
import { watchedStorage } from '../chat/storages.ts'
import { noStrayRejections } from '../chat/world.ts'
import { modelServer } from './model-server.ts'
import { isDone, last, page, until } from './resumed-page.ts'

noStrayRejections()

test('an answer that Google writes in the background is gone on with after a reload', async () => {
  const server = await modelServer((response, { method }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (method === 'GET') response.end(created() + says(0, 'Hel', 'lo') + completed())
    else
      response.write(created() + start(0, { type: 'model_output' }) + delta(0, { type: 'text', text: 'Hel' }))
  })
  onTestFinished(server.stop)
  const modelOf: Parameters<typeof page>[3] = (options) =>
    geminiInteractions('gemini-3.8-flash', { ...options, background: true })
  const storage = watchedStorage()
  const first = page(server, storage, 'first', modelOf)
  await first.session.send('Hi')
  await until(() => first.heard() === 3 && last(first)?.status === 'streaming')
  await first.world.pass(150)
  first.go()
  const again = page(server, storage.reopen(), 'again', modelOf)
  onTestFinished(() => again.chat.close())
  await until(() => isDone(again))
  const answer = last(again)
  expect(answer?.id).toBe(last(first)?.id)
  expect(answer && textOf(answer)).toBe('Hello')
  expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
    ['POST', '/interactions'],
    ['GET', '/interactions/v1_1?stream=true'],
  ])
})
