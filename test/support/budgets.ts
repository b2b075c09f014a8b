/** Bytes, minified and gzipped; 1 kB is 1,000 bytes. What README and DESIGN promise. */
export interface Budget {
  what: string
  entry: string
  /** Taken away from the entry's size: what the part comes on top of. */
  without?: string
  external?: readonly string[]
  /** What the test holds: what is reached, rounded up, so that nothing grows unseen. */
  most: number
  /** What was promised, where that is something else. Not everything is kept: the durable client came out larger. */
  promised?: number
}

const core = "export { createChat, remote } from 'tidemark'"
const direct = "export { createChat, direct } from 'tidemark'"
const both = "export { createChat, direct, remote } from 'tidemark'"
const dexie = "export { dexieStorage } from 'tidemark/dexie'"
const translator = "export { chatAdapter } from 'tidemark/openai-chat'"
const responses = "export { responsesAdapter } from 'tidemark/openai'"
const messages = "export { messagesAdapter } from 'tidemark/anthropic'"
const gemini = "export { geminiAdapter } from 'tidemark/gemini'"
const interactions = "export { interactionsAdapter } from 'tidemark/gemini'"
const ollama = "export { ollamaAdapter } from 'tidemark/ollama'"
const chrome = "export { chromeModel } from 'tidemark/chrome'"
const model = "export { openaiChat } from 'tidemark/openai-chat'"
const context = "export { assembleContext, createEstimator } from 'tidemark'"

export const budgets: readonly Budget[] = [
  {
    what: 'createChat and remote, schemas and SSE parser included',
    entry: core,
    most: 41_300,
    promised: 22_000,
  },
  {
    what: 'an adapter on top of both runtimes, the translator without what all models share',
    entry: `${both}\n${translator}`,
    without: both,
    most: 3_720,
    promised: 5_000,
  },
  {
    what: 'the Responses adapter, weighed likewise',
    entry: `${both}\n${responses}`,
    without: both,
    most: 4_260,
    promised: 5_000,
  },
  {
    what: 'the Anthropic adapter, weighed likewise',
    entry: `${both}\n${messages}`,
    without: both,
    most: 3_700,
    promised: 5_000,
  },
  {
    what: 'the Gemini adapter, weighed likewise',
    entry: `${both}\n${gemini}`,
    without: both,
    most: 3_710,
    promised: 5_000,
  },
  {
    what: 'the adapter of the Interactions API, weighed likewise',
    entry: `${both}\n${interactions}`,
    without: both,
    most: 3_660,
    promised: 5_000,
  },
  {
    what: 'the Ollama adapter, weighed likewise',
    entry: `${both}\n${ollama}`,
    without: both,
    most: 1_770,
    promised: 5_000,
  },
  {
    what: 'what every model behind HTTP shares: the transport, saying and hearing',
    entry: `${both}\n${translator}\n${model}`,
    without: `${both}\n${translator}`,
    most: 3_710,
  },
  {
    what: 'the built-in model of a browser, which needs no transport',
    entry: `${both}\n${chrome}`,
    without: both,
    most: 3_280,
    promised: 5_000,
  },
  {
    what: 'assembleContext alone',
    entry: "export { assembleContext } from 'tidemark'",
    most: 3_640,
    promised: 3_000,
  },
  {
    what: 'a memory on top of both runtimes and Dexie',
    entry: `${both}\n${dexie}\nexport { createMemory } from 'tidemark'`,
    without: `${both}\n${dexie}`,
    most: 3_770,
  },
  {
    what: 'counting text by small tables, of eight tokenizers',
    entry: "export { createTextCounter, smallTables } from 'tidemark'",
    most: 2_050,
    promised: 2_100,
  },
  {
    what: 'counting text by large tables',
    entry: "export { createTextCounter, largeTables } from 'tidemark'",
    most: 3_930,
    promised: 4_000,
  },
  {
    what: 'the whole estimator with small tables: messages, requests, calibration, bounds',
    entry: "export { createEstimator } from 'tidemark'",
    most: 4_110,
    promised: 2_100,
  },
  {
    what: 'the whole estimator with large tables',
    entry: "export { createLargeEstimator } from 'tidemark'",
    most: 6_050,
    promised: 4_000,
  },
  {
    what: 'the OpenTelemetry bridge',
    entry: "export * from 'tidemark/opentelemetry'",
    external: ['@opentelemetry/api'],
    most: 1_880,
  },
  {
    what: 'defaultContext on top of both runtimes: the recommended mix, summaries, the estimator and what is known of models',
    entry: `${both}\nexport { defaultContext } from 'tidemark'`,
    without: both,
    most: 12_920,
  },
  {
    what: 'redaction of keys, cards, addresses and phones',
    entry: "export { createRedaction } from 'tidemark'",
    most: 3_190,
  },
  {
    what: 'the React binding',
    entry: "export * from 'tidemark/react'",
    external: ['react'],
    most: 350,
    promised: 1_000,
  },
  {
    what: 'createChat, remote and Dexie',
    entry: `${core}\n${dexie}`,
    most: 75_730,
    promised: 55_000,
  },
  {
    what: 'createChat, direct, an adapter, context, estimator and Dexie',
    entry: [direct, model, context, dexie].join('\n'),
    most: 97_400,
    promised: 68_000,
  },
]
