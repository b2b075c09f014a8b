/** Tokenizers that the tables know, in their order. A name stands for what uses it: `claude` is Anthropic's public one. */
export const FAMILIES = [
  'o200k',
  'cl100k',
  'claude',
  'llama3',
  'qwen3',
  'deepseek',
  'gemini',
  'mistral',
] as const
export type Family = (typeof FAMILIES)[number]

/** From the second family on, the names of models that use it. A distilled model has the tokenizer of what it was made from. */
const NAMES: readonly RegExp[] = [
  /gpt-?(3|4(?![.o\d]))/,
  /claude/,
  /llama(?!-?2)/,
  /qwen|qwq/,
  /deepseek/,
  /gemini|gemma/,
  /[sx]tral/,
]

/** The family of a model by its name, with any prefix; undefined for one that is not in the table. */
export function familyOf(model: string): Family | undefined {
  const name = model.toLowerCase()
  return FAMILIES[NAMES.findIndex((names) => names.test(name)) + 1 || (/gpt|\bo\d/.test(name) ? 0 : 8)]
}
