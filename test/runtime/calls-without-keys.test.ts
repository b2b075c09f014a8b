import { expect, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import { direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { type CallLine, logger } from '../../src/telemetry/logger.ts'
import { modelStage } from './model-stage.ts'

const KEY = 'sk-very-secret-key'
const stage = modelStage()

test('a key is in no record and in no line, though the provider repeats it', async () => {
  const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}`, type: 'invalid' } })
  const server = await stage.serve((response) => response.writeHead(401).end(body))
  const model = stage.modelOf(server.url, { headers: { authorization: `Bearer ${KEY}` } })
  const lines: CallLine[] = []
  const watch = [logger((line) => lines.push(line))]
  const storage = memoryStorage()
  const chat = createChat({ storage, runtime: direct({ model, watch }) })
  const session = chat.session('s1')
  await (await session.send('Hello')).answer
  const calls = await session.calls()
  expect(calls).toMatchObject([{ status: 'failed', error: { code: 'auth', status: 401 } }])
  expect(lines).toMatchObject([{ error: 'auth' }])
  const written = JSON.stringify([calls, lines, await storage.records('call')])
  expect(written).toContain('Incorrect API key provided: ***')
  expect(written).not.toContain(KEY)
  await chat.close()
})
