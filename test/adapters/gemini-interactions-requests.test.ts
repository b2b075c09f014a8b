import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { say } from '../../src/adapters/say.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { hearAll, responseOf } from './answers.ts'
import { interactionDefects, strictInteractionDefects } from './checkers/gemini-interactions.ts'
import { contentOf, sentInteraction, stepsIn } from './checkers/gemini-interactions-body.ts'
import { answerBytes, expectedAnswers, readFixture } from './fixtures.ts'

const Entry = z.object({ file: z.string(), api: z.string(), status: z.number() })
const recorded = z
  .array(Entry)
  .parse(JSON.parse(readFixture('requests/index.json')))
  .filter(({ api }) => api === 'gemini-interactions')

const Whole = z.looseObject({ steps: z.array(z.looseObject({ type: z.string() })) })
const wholes = expectedAnswers('gemini-interactions').filter(
  ([, { framing, httpStatus }]) => framing === 'json' && httpStatus === 200,
)

describe('the steps of a recorded answer', () => {
  test('were recorded', () => expect(wholes).toHaveLength(5))

  // "You must resend all thought blocks exactly as they were received": https://ai.google.dev/gemini-api/docs/thinking
  test.each(wholes)('go back exactly as they came: %s', async (file, expected) => {
    const adapter = interactionsAdapter()
    const { message } = await hearAll(adapter, responseOf([answerBytes(file, expected)]))
    const messages = [userMessage('u', 'Hi'), assistantMessage('a', '', message), userMessage('v', 'And?')]
    const body = sentInteraction(say(adapter, { messages }, { model: expected.model ?? '' }).body)
    expect(stepsIn(body).slice(1, -1)).toEqual(Whole.parse(JSON.parse(readFixture(`streams/${file}`))).steps)
    expect(strictInteractionDefects(body)).toEqual([])
  })
})

describe('a request that was rejected', () => {
  test('there is one, and none with a history that was accepted', () => {
    expect(recorded.map(({ status }) => status)).toEqual([400])
  })

  test.each(recorded.map(({ file }) => [file]))('comes out without what was wrong with it: %s', (file) => {
    const body: unknown = JSON.parse(readFixture(`requests/${file}`))
    expect(interactionDefects(body)).toEqual([
      'the model does not work in the background',
      'the model knows no minimal level',
    ])
    const { model } = z.looseObject({ model: z.string() }).parse(body)
    const said = stepsIn(sentInteraction(body)).flatMap(contentOf)
    const messages = said.map((content) => userMessage('u', content.type === 'text' ? content.text : ''))
    const options = { model, maxOutputTokens: 256, temperature: 0, thinking: 'minimal' as const }
    const encoded = sentInteraction(say(interactionsAdapter(), { messages }, options).body)
    expect(strictInteractionDefects(encoded)).toEqual([])
    expect(stepsIn(encoded).flatMap(contentOf)).toEqual(said)
  })
})
