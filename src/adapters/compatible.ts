import { TidemarkError } from '../lib/errors.ts'
import type { Effort } from './contract.ts'
import { record, string } from './json.ts'
import type { ChatQuirks } from './openai-chat-quirks.ts'
import { type ReplayAnswer, textOfBlocks } from './replay.ts'

type AnswerFields = (answer: ReplayAnswer) => Readonly<Record<string, unknown>>

/** Thinking as a text of its own; `placeholder` where there is none and the server demands the field. */
const reasoningContent =
  (isRequired: (answer: ReplayAnswer) => boolean, placeholder = ''): AnswerFields =>
  (answer) => {
    const text = answer.own ? textOfBlocks(answer.content, '', 'thinking') : ''
    return text || isRequired(answer) ? { reasoning_content: text || placeholder } : {}
  }

/** OpenRouter wants back what it sent: thinking with its proof, and the encrypted pieces as they were. */
const reasoningDetails: AnswerFields = ({ content, own }) => {
  const details = content.flatMap((block) => {
    // A proof that is JSON is of its other API, where it belongs to an item.
    if (block.type === 'thinking' && !block.signature?.startsWith('{'))
      return [{ type: 'reasoning.text', text: block.text, signature: block.signature }]
    const raw = record(block.type === 'other' ? block.raw : undefined)
    return string(raw.type).startsWith('reasoning.') ? [raw] : []
  })
  return own && details.length > 0 ? { reasoning_details: details } : {}
}

type Thinking = NonNullable<ChatQuirks['effort']>

/** The three that everybody knows, and none. */
const known = (effort: Effort): Effort => (effort === 'minimal' ? 'low' : effort === 'max' ? 'high' : effort)

const threeSteps: Thinking = (effort) => ({ reasoning_effort: known(effort) })

const reasoning: Thinking = (effort) => ({ reasoning: { effort: effort === 'max' ? 'xhigh' : effort } })

const onOrOff: Thinking = (effort) => ({ thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } })

/** Models of all makers: their templates have switches of their own, and pass over those of others. */
const template: Thinking = (effort) => {
  const thinks = effort !== 'none'
  return {
    ...(thinks && threeSteps(effort, '')),
    chat_template_kwargs: { enable_thinking: thinks, thinking: thinks },
  }
}

const NINE = /^[A-Za-z0-9]{9}$/

/** What is known of servers that speak Chat Completions their own way, by the provider's usual name. */
export const SERVER_QUIRKS = {
  // "enable_thinking must be set to false for non-streaming calls"
  alibaba: {
    bodyWhole: { enable_thinking: false },
    effort: (effort) => ({ enable_thinking: effort !== 'none' }),
    schemas: false,
  },
  cerebras: { effort: threeSteps },
  // "The reasoning_content in the thinking mode must be passed back to the API": of every answer
  deepseek: {
    answerFields: reasoningContent(() => true),
    // It maps what it does not know to what it does, except that nothing is said of how hard not to think.
    effort: (effort) => ({
      ...onOrOff(effort, ''),
      ...(effort !== 'none' && { reasoning_effort: effort }),
    }),
    schemas: false,
  },
  google: { effort: (effort) => ({ reasoning_effort: effort === 'max' ? 'high' : effort }) },
  gpustack: { effort: template },
  // Qwen knows none and the default. What it thinks stands in the answer's text, unless it is wanted apart.
  groq: {
    effort: (effort, model) =>
      /qwen/i.test(model)
        ? effort === 'none'
          ? { reasoning_effort: effort }
          : { reasoning_effort: 'default', reasoning_format: 'parsed' }
        : threeSteps(effort, model),
  },
  huggingface: { effort: threeSteps },
  llamacpp: { effort: template },
  lmstudio: { effort: template },
  // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
  mistral: {
    // "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    turns: 'open',
    callIds: { own: NINE, foreign: NINE, prefix: '' },
    streamOptions: false,
    effort: (effort, model) =>
      /magistral/i.test(model)
        ? { prompt_mode: effort === 'none' ? undefined : 'reasoning' }
        : { reasoning_effort: effort === 'none' ? effort : 'high' },
  },
  // "thinking is enabled but reasoning_content is missing in assistant tool call message at index …"
  moonshot: {
    answerFields: reasoningContent(({ results }) => results.length > 0, '(not recorded)'),
    effort: onOrOff,
    schemas: false,
  },
  ollama: { effort: threeSteps },
  openrouter: {
    answerFields: reasoningDetails,
    effort: reasoning,
    // Only Anthropic's models keep nothing unless they are told to.
    cache: (cache, model) =>
      /claude/i.test(model)
        ? { cache_control: { type: 'ephemeral', ...(cache === 'long' && { ttl: '1h' }) } }
        : {},
  },
  // "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s)."
  perplexity: { turns: 'strict', effort: threeSteps },
  snowflake: { effort: reasoning },
  together: {
    effort: (effort, model) =>
      /gpt-oss/i.test(model) ? threeSteps(effort, model) : { reasoning: { enabled: effort !== 'none' } },
  },
  'vercel-gateway': { effort: reasoning },
  vllm: { effort: template },
  xai: {
    // "Model … does not support parameter reasoningEffort"
    effort: (effort, model) => (/grok-(3-mini|4\.[3-9]|[5-9])/i.test(model) ? threeSteps(effort, model) : {}),
    // "Argument not supported on this model: stop": wherever it thinks
    stop: /grok-[12]|non-reasoning/i,
  },
  zai: { answerFields: reasoningContent(() => false), effort: onOrOff, schemas: false },
} as const satisfies Record<string, ChatQuirks>

/** Where a server is, and how it wants to be asked. */
export interface CompatibleServer {
  /** What `/chat/completions` is added to, before a query. In braces: what every account has of its own. */
  baseURL: string
  /** The header of the key. @default 'authorization', as `Bearer <key>` */
  keyHeader?: string
  quirks?: ChatQuirks
}

/**
 * Servers that speak Chat Completions, by the provider's usual name. Addresses as they were recorded, or as the provider's own
 * pages give them; those on this machine by the programs' defaults.
 */
export const SERVERS = {
  // Outside mainland China; inside it, `dashscope.aliyuncs.com`.
  alibaba: {
    baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    quirks: SERVER_QUIRKS.alibaba,
  },
  azure: {
    baseURL: 'https://{resource}.openai.azure.com/openai/deployments/{deployment}?api-version={apiVersion}',
    keyHeader: 'api-key',
  },
  // The address without versions, where the model's name is the deployment's.
  'azure-v1': { baseURL: 'https://{resource}.openai.azure.com/openai/v1', keyHeader: 'api-key' },
  'azure-foundry': {
    baseURL: 'https://{resource}.services.ai.azure.com/models?api-version={apiVersion}',
    keyHeader: 'api-key',
  },
  bedrock: { baseURL: 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1' },
  // For the models that the address above does not have.
  'bedrock-mantle': { baseURL: 'https://bedrock-mantle.{region}.api.aws/v1' },
  cerebras: { baseURL: 'https://api.cerebras.ai/v1', quirks: SERVER_QUIRKS.cerebras },
  cloudflare: { baseURL: 'https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1' },
  databricks: { baseURL: 'https://{host}/serving-endpoints' },
  deepseek: { baseURL: 'https://api.deepseek.com', quirks: SERVER_QUIRKS.deepseek },
  google: {
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    quirks: SERVER_QUIRKS.google,
  },
  gpustack: { baseURL: 'https://{host}/v1', quirks: SERVER_QUIRKS.gpustack },
  groq: { baseURL: 'https://api.groq.com/openai/v1', quirks: SERVER_QUIRKS.groq },
  huggingface: { baseURL: 'https://router.huggingface.co/v1', quirks: SERVER_QUIRKS.huggingface },
  llamacpp: { baseURL: 'http://localhost:8080/v1', quirks: SERVER_QUIRKS.llamacpp },
  lmstudio: { baseURL: 'http://localhost:1234/v1', quirks: SERVER_QUIRKS.lmstudio },
  mistral: { baseURL: 'https://api.mistral.ai/v1', quirks: SERVER_QUIRKS.mistral },
  moonshot: { baseURL: 'https://api.moonshot.ai/v1', quirks: SERVER_QUIRKS.moonshot },
  ollama: { baseURL: 'http://localhost:11434/v1', quirks: SERVER_QUIRKS.ollama },
  openrouter: { baseURL: 'https://openrouter.ai/api/v1', quirks: SERVER_QUIRKS.openrouter },
  perplexity: { baseURL: 'https://api.perplexity.ai', quirks: SERVER_QUIRKS.perplexity },
  snowflake: {
    baseURL: 'https://{account}.snowflakecomputing.com/api/v2/cortex/v1',
    quirks: SERVER_QUIRKS.snowflake,
  },
  together: { baseURL: 'https://api.together.xyz/v1', quirks: SERVER_QUIRKS.together },
  'vercel-gateway': { baseURL: 'https://ai-gateway.vercel.sh/v1', quirks: SERVER_QUIRKS['vercel-gateway'] },
  vllm: { baseURL: 'http://localhost:8000/v1', quirks: SERVER_QUIRKS.vllm },
  xai: { baseURL: 'https://api.x.ai/v1', quirks: SERVER_QUIRKS.xai },
  zai: { baseURL: 'https://api.z.ai/api/paas/v4', quirks: SERVER_QUIRKS.zai },
} as const satisfies Record<string, CompatibleServer>

/** An address with its braces filled in. Throws `invalid-request` for one that is not, or by what no name may hold. */
export const filledIn = (baseURL: string, at: Readonly<Record<string, string | undefined>>): string =>
  baseURL.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(at, name) ? at[name] : undefined
    if (value === undefined || !/^[\w-][\w.-]*$/.test(value))
      throw new TidemarkError('invalid-request', `at.${name}: letters, digits, ".", "_" and "-" are wanted`)
    return value
  })
