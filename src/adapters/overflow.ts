/** How providers say that the request does not fit the model's window. Each row was seen in the wild. */
const WORDINGS: readonly RegExp[] = [
  // OpenAI, DeepSeek, OpenRouter, vLLM: "This model's maximum context length is 8192 tokens. However, …"
  /maximum context length/i,
  /context[ _-]?length[ _-]?exceeded/i,
  // OpenAI Responses: "Your input exceeds the context window of this model."
  /exceeds? (the |this model's |its )?(maximum |max |available )?context/i,
  // Ollama: "prompt too long; exceeded max context length"; Anthropic: "prompt is too long: 210000 tokens > 200000 maximum"
  /prompt (is )?too long/i,
  // Anthropic: "input length and `max_tokens` exceed context limit"
  /exceed(s|ed)? (the )?(max(imum)? )?context (limit|length|size|window)/i,
  // Gemini: "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."
  /token count \(?\d*\)? ?exceeds the maximum/i,
  // Bedrock: "Input is too long for requested model."
  /input is too long/i,
  // Groq: "Please reduce the length of the messages or completion."
  /reduce the length of (the messages|either one|your prompt)/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens."
  /maximum prompt length/i,
  // llama.cpp: "the request exceeds the available context size"; LM Studio: "greater than the context length"
  /available context size|greater than the context length|exceed_context_size/i,
  // Mistral: "Prompt contains 65673 tokens … too large for model with 32768 maximum context length"
  /too large for model with \d+ maximum/i,
  // Z.ai: finish_reason "model_context_window_exceeded"; Moonshot: "Your request exceeded model token limit"
  /context_window_exceeded|exceeded model token limit/i,
  // DashScope: "Range of input length should be [1, 30720]"
  /range of input length should be/i,
  // Cohere, MiniMax: "too many tokens: total number of tokens …"; "context window exceeds limit"
  /too many tokens:|context window exceeds limit/i,
]

/** Whether a provider's words mean that the context was too long. */
export const isOverflow = (message: string): boolean => WORDINGS.some((wording) => wording.test(message))
