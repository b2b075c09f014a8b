import type { Capabilities, Model } from './contract.ts'

const TEXT = { images: false, tools: true }
const SEES = { images: true, tools: true }
const THINKS = { thinking: true }
const ANSWERS = { thinking: false }

const limits = (contextWindow: number, maxOutput?: number): Capabilities => ({
  contextWindow,
  ...(maxOutput !== undefined && { maxOutput }),
})

/**
 * What is known of the main families of models, by name; dots read as dashes, since some servers write `4.5` and others
 * `4-5`. The first row that fits counts. As of November 2026, by the providers' own pages of models; where these are silent,
 * by the community's database models.dev. Where sources differ, the lower number. What nobody says is absent.
 */
const FAMILIES: readonly (readonly [RegExp, Capabilities])[] = [
  // Names that share a family's beginning and nothing else.
  [/gemini.*(image|tts|live|audio|embedding|robotics|computer)|gpt-.*(image|audio|realtime|transcribe)/, {}],

  [/claude-(opus|sonnet|fable)-5/, { ...limits(1_000_000, 128_000), ...SEES, ...THINKS }],
  [/claude-opus-4-[678]/, { ...limits(1_000_000, 128_000), ...SEES, ...THINKS }],
  [/claude-sonnet-4-6/, { ...limits(1_000_000, 64_000), ...SEES, ...THINKS }],
  [/claude-((opus|haiku)-4-5|sonnet-4)/, { ...limits(200_000, 64_000), ...SEES, ...THINKS }],
  [/claude-opus-4/, { ...limits(200_000, 32_000), ...SEES, ...THINKS }],
  [/claude-3-7/, { ...limits(200_000, 64_000), ...SEES, ...THINKS }],
  [/claude-3-5/, { ...limits(200_000, 8_192), ...SEES, ...ANSWERS }],
  [/claude-3/, { ...limits(200_000, 4_096), ...SEES, ...ANSWERS }],

  [/gpt-5.*chat/, { ...limits(128_000, 16_384), images: true, ...ANSWERS }],
  [/gpt-5.*(mini|nano)/, { ...limits(400_000, 128_000), ...SEES, ...THINKS }],
  [/gpt-(6-(sol|luna|astra)|5-[456](?!\d))/, { ...limits(1_050_000, 128_000), ...SEES, ...THINKS }],
  [/gpt-5/, { ...limits(400_000, 128_000), ...SEES, ...THINKS }],
  [/gpt-4-1(?!\d)/, { ...limits(1_047_576, 32_768), ...SEES, ...ANSWERS }],
  [/gpt-4o/, { ...limits(128_000, 16_384), ...SEES, ...ANSWERS }],
  [/gpt-oss/, { ...limits(131_072), ...TEXT, ...THINKS }],
  [/(^|\/)o1-mini/, { ...limits(128_000, 65_536), images: false, tools: false, ...THINKS }],
  [/(^|\/)o3-mini/, { ...limits(200_000, 100_000), ...TEXT, ...THINKS }],
  [/(^|\/)o[134](?![a-z\d])/, { ...limits(200_000, 100_000), ...SEES, ...THINKS }],

  [/gemini-(3|2-5)/, { ...limits(1_048_576, 65_536), ...SEES, ...THINKS }],
  [/gemini-2-0-flash/, { ...limits(1_048_576, 8_192), ...SEES, ...ANSWERS }],

  [/grok-4-[57](?!\d)/, { ...limits(500_000), ...SEES, ...THINKS }],
  [/grok-4-3(?!\d)/, { ...limits(1_000_000, 30_000), ...SEES, ...THINKS }],
  [/grok-4-.*non-reasoning/, { ...limits(2_000_000), ...SEES, ...ANSWERS }],
  [/grok-4(-1)?-fast/, { ...limits(2_000_000), ...SEES, ...THINKS }],
  [/grok-4(-0709|-latest)?$/, { ...limits(256_000), ...SEES, ...THINKS }],
  [/grok-code/, { ...limits(256_000), ...TEXT, ...THINKS }],

  [/deepseek-v4-pro/, { ...limits(1_000_000, 384_000), ...TEXT, ...THINKS }],
  [/deepseek-(v4-)?flash/, { ...limits(1_000_000, 384_000), tools: true, ...THINKS }],

  [/mistral-(large-(latest|2512)|medium-latest)/, { ...limits(262_144), ...SEES }],
  [/mistral-small-(latest|2603)/, { ...limits(256_000), ...SEES, ...THINKS }],
  [/magistral/, { ...limits(128_000), tools: true, ...THINKS }],

  [/kimi-k3/, { ...limits(1_048_576, 262_144), ...SEES, ...THINKS }],
  [/kimi-k2-[56](?!\d)/, { ...limits(262_144), ...SEES, ...THINKS }],
  [/kimi-k2-thinking/, { ...limits(262_144), ...TEXT, ...THINKS }],

  [/glm-5-3(?!-flash)/, { ...limits(1_000_000, 131_072), ...TEXT, ...THINKS }],
  [/glm-4-[67](?![\dv])(?!-flash)/, { ...limits(204_800, 131_072), ...TEXT, ...THINKS }],

  [/qwen3-max/, { ...limits(262_144, 65_536), images: false }],
  [/qwen3-coder-plus/, { ...limits(1_000_000, 65_536), ...TEXT, ...ANSWERS }],
  [/qwen-plus/, { ...limits(1_000_000, 32_768), images: false, ...THINKS }],

  [/(^|\/)sonar-pro/, { ...limits(200_000, 8_000), tools: false }],
  [/(^|\/)sonar/, { ...limits(128_000), tools: false }],
]

/**
 * What is known of a model: by its name, and what its user says of it (`capabilities`), which outranks that. Nothing at all of
 * a model that nobody knows. Meant to plan with, such as a context's size; nothing is refused because of it.
 *
 * @example
 * const { contextWindow = 32_000 } = capabilitiesOf(model)
 */
export function capabilitiesOf({ id, capabilities }: Pick<Model, 'id' | 'capabilities'>): Capabilities {
  const name = id.toLowerCase().replaceAll('.', '-')
  const family = FAMILIES.find(([pattern]) => pattern.test(name))
  return { ...family?.[1], ...capabilities }
}
