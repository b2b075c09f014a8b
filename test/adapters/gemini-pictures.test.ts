import { expect, test } from 'vitest'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { say } from '../../src/adapters/say.ts'
import { assistantMessage, callingMessage, toolMessage, userMessage } from '../support/messages.ts'
import { strictGeminiDefects } from './checkers/gemini.ts'
import { sentGemini } from './checkers/gemini-body.ts'

test('a picture that cannot be sent is named, in a result and in an answer', () => {
  const lost = { type: 'image', mimeType: 'image/png', attachmentId: 'x', name: 'map.png' } as const
  const messages = [
    userMessage('u'),
    callingMessage('a', ['c']),
    toolMessage('t', 'c', { content: [lost] }),
    assistantMessage('b', '', { content: [lost] }),
    userMessage('v'),
  ]
  for (const model of ['gemini-3-flash-preview', 'gemini-2.5-flash']) {
    const body = sentGemini(say(geminiAdapter(), { messages }, { model }).body)
    expect(strictGeminiDefects(body, model)).toEqual([])
    const [, , results, answer] = body.contents
    expect(results?.parts[0]?.functionResponse?.response).toEqual({ output: '[image map.png not shown]' })
    expect(answer?.parts).toEqual([{ text: '[image map.png not shown]' }])
  }
})
