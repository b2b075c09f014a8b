/** What goes with the text of a request, in tokens: options of `createEstimator`. */
export interface Overheads {
  /** Once a request. */
  requestOverhead: number
  /** Each message, and the instructions. */
  messageOverhead: number
  /** Once, where there are tools. */
  toolOverhead: number
  /** Tokens for each token of the tools' JSON: a provider writes their schemas in its own way. */
  toolFactor: number
}

/**
 * By model: request, message, tools, and the factor for the tools' JSON. The first that matches counts. OpenAI's messages as in its
 * cookbook, "How to count tokens with tiktoken"; all else is what recorded requests were counted as, few of them for Perplexity, which
 * counts the text alone, and for Google: its own interface counts declarations of tools whole, gateways to it hardly more than
 * their words, and those say `google/gemini-…`.
 */
const ROWS: readonly (readonly [RegExp, number, number, number, number])[] = [
  [/gpt-oss/, 62, 4, 15, 0.8],
  [/claude-(3-opus|opus-3)/, 4, 2, 510, 1.4],
  [/claude.*(4[-.][5-9]|-5)/, 4, 2, 480, 1.4],
  [/claude/, 4, 2, 310, 1.4],
  [/distill/, 0, 1, 100, 1],
  [/llama-?3\.[1-3]/, 30, 3, 90, 1.2],
  [/llama/, 3, 5, 90, 1.2],
  [/qwen.*(coder|max)/, 5, 1, 225, 1.1],
  [/qwen|qwq/, 5, 1, 110, 1.1],
  [/deepseek/, 0, 1, 100, 1.1],
  [/gemma/, 4, 4, 40, 1],
  [/\/gemini/, 0, 0, 0, 0.35],
  [/gemini/, 0, 0, 0, 0.95],
  [/sonar/, 0, 0, 0, 1],
  [/[sx]tral/, 3, 3, 5, 1.15],
  [/grok/, 3, 2, 210, 1],
  [/kimi/, 3, 1, 55, 1.1],
  [/glm/, 3, 1, 105, 1.15],
]

/** What a model's provider adds to a text, as far as it is known; OpenAI's ways for all others. */
export function overheadsOf(model: string): Overheads {
  const name = model.toLowerCase()
  const [, requestOverhead, messageOverhead, toolOverhead, toolFactor] = ROWS.find(([names]) =>
    names.test(name),
  ) ?? [name, 3, 4, 8, 0.73]
  return { requestOverhead, messageOverhead, toolOverhead, toolFactor }
}
