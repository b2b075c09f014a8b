import type { ErrorData } from '../lib/error-data.ts'

/** How providers say that the request does not fit the model's window. Each wording was seen in the wild. */
const WORDINGS: readonly RegExp[] = [
  // OpenAI, DeepSeek, OpenRouter, vLLM, xAI: "This model's maximum context length is 8192 tokens", "maximum prompt length is …"
  /maximum (context|prompt) length/i,
  // OpenAI: "context_length_exceeded"; Z.ai: "model_context_window_exceeded"; Moonshot: "exceeded model token limit"
  /context_(length|window)_exceeded|exceeded model token limit/i,
  // "Your input exceeds the context window", Ollama: "exceeded max context length", "exceed context limit",
  // llama.cpp: "exceeds the available context size", LM Studio: "greater than the context length", SGLang: "longer than the
  // model's context length", vLLM: "longer than the maximum model length", Cloudflare: "exceeded this model context window"
  /(exceed(s|ed)?|(great|long)er than) ((the|this|model('s)?|max(imum)?|available) )*(context|model length)/i,
  // LM Studio: "Context size has been exceeded", Z.ai: "Prompt exceeds max length", Hugging Face: "`inputs` tokens + …",
  // "`inputs` must have less than …", MiniMax: "context window exceeds limit"
  /context size has|prompt exceeds|`inputs` (tokens|must have less)|context window exceeds/i,
  // Anthropic: "prompt is too long", Bedrock: "Input is too long", Cohere: "too many tokens: …"
  /(prompt|input) (is )?too long|too many tokens:/i,
  // Gemini: "The input token count (1250074) exceeds the maximum number of tokens", Vertex AI: "the input token count is 1194206
  // but model only supports up to 1048576", GitHub: "Request body too large for gpt-4o model. Max size: 8000 tokens."
  /token count (.{0,20}exceeds|is \d+ but)|max size: \d+ tokens/i,
  // Groq: "Please reduce the length of the messages or completion"; DashScope: "Range of input length should be …"
  /reduce the length of|range of input length/i,
]

/** Whether a provider's words mean that the context was too long. */
export const isOverflow = (message: string): boolean => WORDINGS.some((wording) => wording.test(message))

/** Numbers that are not part of a name, such as that of a model with its date. */
const NUMBERS = /(?<![\w.-])\d{4,}(?![\w-])/g

/** What a request needs and what there is room for, where words of a full window tell both: the larger is what was sent. */
export function overflowIn(message: string): ErrorData['tokens'] {
  const [a = 0, b = 0, c = 0] = (message.match(NUMBERS) ?? []).map(Number)
  // "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
  const [needed, available] =
    c > 0 && / \+ \d+ > /.test(message) ? [a + b, c] : [Math.max(a, b), Math.min(a, b)]
  return available > 0 && available < needed ? { needed, available } : undefined
}
