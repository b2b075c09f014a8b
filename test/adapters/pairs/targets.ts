import { messagesAdapter } from '../../../src/adapters/anthropic.ts'
import { SERVER_QUIRKS } from '../../../src/adapters/compatible.ts'
import type { ToolSpec } from '../../../src/adapters/contract.ts'
import { geminiAdapter } from '../../../src/adapters/gemini.ts'
import { interactionsAdapter } from '../../../src/adapters/gemini-interactions.ts'
import { ollamaAdapter } from '../../../src/adapters/ollama.ts'
import { chatAdapter } from '../../../src/adapters/openai-chat.ts'
import type { ChatQuirks } from '../../../src/adapters/openai-chat-quirks.ts'
import { responsesAdapter } from '../../../src/adapters/openai-responses.ts'
import { say } from '../../../src/adapters/say.ts'
import { chromeModel } from '../../../src/chrome.ts'
import type { Message } from '../../../src/message/schema.ts'
import { fakeLanguageModel } from '../../runtime/fake-language-model.ts'
import { messagesDefects } from '../checkers/anthropic.ts'
import { chromeDefects, Prompts } from '../checkers/chrome.ts'
import { strictGeminiDefects } from '../checkers/gemini.ts'
import { strictInteractionDefects } from '../checkers/gemini-interactions.ts'
import { strictOllamaDefects } from '../checkers/ollama.ts'
import { serverDefects } from '../checkers/openai-chat.ts'
import { responsesDefects } from '../checkers/openai-responses.ts'

/** What a history became for a target: what was wrong with it, and all that is said, as one text. */
export interface Sent {
  defects: string[]
  said: string
}

/** Who is asked, with a history that may be another's. */
export interface Target {
  provider: string
  model: string
  send(messages: readonly Message[]): Promise<Sent> | Sent
}

const system = 'Be brief.'
const tools: ToolSpec[] = ['weather', 'snapshot'].map((name) => ({
  name,
  parameters: { properties: { q: {} } },
}))

/** What goes over the wire: undefined fields are gone. */
const wire = (body: unknown): unknown => JSON.parse(JSON.stringify(body))

const chat = (provider: string, model: string, quirks: ChatQuirks = {}): Target => ({
  provider,
  model,
  send(messages) {
    const body = wire(say(chatAdapter({ provider, quirks }), { system, messages, tools }, { model }).body)
    return { defects: serverDefects(body, provider), said: JSON.stringify(body) }
  },
})

const responses = (model: string, provider = 'openai'): Target => ({
  provider,
  model,
  send(messages) {
    const body = wire(say(responsesAdapter({ provider }), { system, messages, tools }, { model }).body)
    return { defects: responsesDefects(body), said: JSON.stringify(body) }
  },
})

const anthropic = (model: string): Target => ({
  provider: 'anthropic',
  model,
  send(messages) {
    const body = wire(say(messagesAdapter(), { system, messages, tools }, { model }).body)
    return { defects: messagesDefects(body), said: JSON.stringify(body) }
  },
})

const gemini = (model: string): Target => ({
  provider: 'google',
  model,
  send(messages) {
    const body = wire(say(geminiAdapter(), { system, messages, tools }, { model }).body)
    return { defects: strictGeminiDefects(body, model), said: JSON.stringify(body) }
  },
})

const interactions = (model: string): Target => ({
  provider: 'google-interactions',
  model,
  send(messages) {
    const body = wire(say(interactionsAdapter(), { system, messages, tools }, { model }).body)
    return { defects: strictInteractionDefects(body), said: JSON.stringify(body) }
  },
})

const ollama: Target = {
  provider: 'ollama',
  model: 'qwen3',
  send(messages) {
    const body = wire(say(ollamaAdapter(), { system, messages, tools }, { model: 'qwen3' }).body)
    return { defects: strictOllamaDefects(body), said: JSON.stringify(body) }
  },
}

/** The browser's model, through the API that the browser has. */
const chrome: Target = {
  provider: 'chrome',
  model: 'built-in',
  async send(messages) {
    const languageModel = fakeLanguageModel({ inputs: ['image'], window: Number.POSITIVE_INFINITY })
    const failed: string[] = []
    for await (const event of chromeModel({ languageModel }).stream({ system, messages }))
      if (event.type === 'error') failed.push(event.error.message)
    const [seen, asked] = [languageModel.created[0]?.initialPrompts, languageModel.asked[0]?.input]
    const all = Prompts.safeParse([seen, asked].flat()).data ?? []
    const parts = await Promise.all(
      all
        .flatMap(({ content }) =>
          typeof content === 'string' ? [{ type: 'text' as const, value: content }] : content,
        )
        .map(saidIn),
    )
    return { defects: [...failed, ...chromeDefects(seen, asked)], said: JSON.stringify(parts) }
  },
}

async function saidIn({ value }: { value: string | Blob }): Promise<string> {
  return typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()).toString('base64')
}

/** The main dialects, with models and servers that have rules of their own. */
export const TARGETS: Readonly<Record<string, Target>> = {
  'openai-chat: gpt-4o': chat('openai', 'gpt-4o'),
  'openai-chat: Mistral': chat('mistral', 'mistral-large-latest', SERVER_QUIRKS.mistral),
  'openai-chat: DeepSeek': chat('deepseek', 'deepseek-reasoner', SERVER_QUIRKS.deepseek),
  'openai-chat: Moonshot': chat('moonshot', 'kimi-k2-thinking', SERVER_QUIRKS.moonshot),
  'openai-chat: OpenRouter': chat('openrouter', 'anthropic/claude-sonnet-4.5', SERVER_QUIRKS.openrouter),
  'openai-responses: gpt-5': responses('gpt-5'),
  'openai-responses: gpt-4o': responses('gpt-4o'),
  'openai-responses: OpenRouter': responses('anthropic/claude-sonnet-4.5', 'openrouter'),
  'anthropic: claude-3-5-haiku': anthropic('claude-3-5-haiku-latest'),
  'anthropic: claude-sonnet-4-5': anthropic('claude-sonnet-4-5'),
  'anthropic: claude-opus-4-8': anthropic('claude-opus-4-8'),
  'gemini: 2.5': gemini('gemini-2.5-pro'),
  'gemini: 3': gemini('gemini-3-pro-preview'),
  'interactions: 2.5': interactions('gemini-2.5-pro'),
  'interactions: 3': interactions('gemini-3-pro-preview'),
  ollama,
  chrome,
}
