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
 * By model and host, `model @host`: request, message, tools, and the factor for the tools' JSON. The first that matches counts.
 * OpenAI's are those of its cookbook, "How to count tokens with tiktoken", less one a message; all else is what recorded requests
 * were counted as, robustly, some of them only one (Llama Guard, Llama 4 and Gemma at Groq, Grok 2, Claude 3 Opus). What is asked
 * in them is short and plain English, which is estimated about a token high: that is in these figures, too.
 *
 * Hosts differ. Groq puts prompts of its own before models that know no tools, DeepSeek one before all that its Responses API is
 * asked; Google's own interface counts declarations of tools whole, Vertex and gateways (`google/gemini-…`) hardly more than their
 * words.
 */
const ROWS: readonly (readonly [RegExp, number, number, number, number])[] = [
  [/@deepseek\/.*responses/, 80, 1.5, 225, 1],
  [/gpt-oss/, 63, 4, 15, 0.8],
  [/llama-guard/, 98, 2.5, 45, 1],
  [/llama-4.*@groq/, 3, 5, 658, 1],
  [/gemma.*@groq/, 4, 4, 825, 1],
  [/claude-(3-opus|opus-3)/, 4, 2, 510, 1.4],
  [/claude.*(4[-.][5-9]|-5)/, 3.5, 2, 495, 1.35],
  [/claude/, 3, 2, 310, 1.4],
  [/distill/, 0.5, 1, 100, 1],
  [/llama-?3\.[1-3]/, 31, 3, 90, 1.25],
  [/llama/, 3, 5, 45, 1.25],
  [/qwen.*(coder|max)/, 5.5, 1.5, 230, 1.1],
  [/qwen.*@gpustack/, 5, 1, 150, 0.95],
  [/qwen|qwq/, 4.5, 2, 100, 1.1],
  [/deepseek/, 2, 0.5, 100, 1.1],
  [/gemma/, 4, 4, 40, 1],
  [/google\/gemini-|gemini.*@google-vertex/, -2, 0, -5, 0.4],
  [/gemini-3/, -1, 0, 10, 1.15],
  [/gemini/, -0.5, -0.5, 0, 0.85],
  [/sonar/, 0, 0, 0, 1],
  [/[sx]tral/, 8, 0.5, 5, 1.15],
  [/grok-2/, 3, 2, 65, 1],
  [/grok-4[-.]1/, 3, 2, 300, 1],
  [/grok/, 3.5, 2.5, 225, 1],
  [/kimi/, 4, 1.5, 55, 1.05],
  [/glm/, 5, 0, 100, 1.2],
]

/**
 * What a provider says to a model that is told to think, as requests were counted: Claude's five, at four hosts, 25 to 33 tokens
 * more than without, Mistral's only one.
 */
const THINKING: readonly (readonly [RegExp, number])[] = [
  [/claude/, 30],
  [/[sx]tral/, 8],
]

/**
 * What a model's provider adds to a text, as far as it is known; OpenAI's ways for all others.
 *
 * `host` is who answers, as messages name it (`groq`), or with the API (`deepseek/openai-responses`): some add more than others.
 * `thinks` is whether the model is told to think: some are then told how, beside what is asked.
 */
export function overheadsOf(model: string, host = '', thinks = false): Overheads {
  const name = `${model} @${host}`.toLowerCase()
  const [, requestOverhead, messageOverhead, toolOverhead, toolFactor] = ROWS.find(([names]) =>
    names.test(name),
  ) ?? [name, 3, 3, 8, 0.73]
  const [, told] = (thinks && THINKING.find(([names]) => names.test(name))) || [name, 0]
  return { requestOverhead: requestOverhead + told, messageOverhead, toolOverhead, toolFactor }
}
