import { afterAll, beforeAll, expect, test } from 'vitest'
import { Card } from '../../demo/card.ts'
import { type Listening, listen } from '../../demo/server/listen.ts'
import { answerTo, type Said } from '../../demo/stand-in/answer.ts'
import { topics } from '../../demo/stand-in/topics.ts'
import { createStandIn } from '../../demo/stand-in.ts'
import { collect } from '../../src/adapters/collect.ts'
import { textOf } from '../../src/message/text.ts'
import { openaiChat } from '../../src/openai-chat.ts'
import { userMessage } from '../support/messages.ts'

let quick: Listening
beforeAll(async () => {
  quick = await listen(createStandIn({ pace: 0 }), { port: 0 })
})
afterAll(() => quick.close())

const model = () => openaiChat('stand-in', { baseURL: `http://127.0.0.1:${quick.port}/v1` })
const asked = (text: string): Said[] => [{ role: 'user', text }]

test('wants looked into what it is asked to have looked into, and tells what came of it', async () => {
  const question = userMessage('1', 'Look into what happens when I am offline')
  const tools = [{ name: 'research', parameters: {} }]
  const call = await collect(model().stream({ messages: [question], tools }))
  expect(call).toMatchObject({
    stopReason: 'toolUse',
    content: [{ name: 'research', arguments: { task: 'What happens when I am offline' } }],
  })
  const told = (text: string) => answerTo([...asked(textOf(question)), { role: 'tool', text }])
  expect(told('{"ok":true,"data":"# Offline\\n\\nYou can go on."}')).toContain('> You can go on.')
  expect(told('{"ok":false,"error":"stopped"}')).toContain('nothing came of it: stopped')
})

test.each([...topics.map(({ title }) => title), '12 * (3 + 4)', 'Do fish sleep?'])(
  'has a few points for a card: %s',
  async (text) => {
    const messages = [userMessage('1', text)]
    const output = { schema: { type: 'object' }, name: 'card' }
    const answer = await collect(model().stream({ messages }, { output }))
    const { title, points } = Card.parse(JSON.parse(textOf(answer)))
    expect(title).toBe(text)
    expect(points.length).toBeGreaterThan(0)
    for (const point of points) expect(point).not.toMatch(/[|`*#]|^>/)
  },
)
