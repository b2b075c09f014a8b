import { createStandIn, type StandInOptions } from '../stand-in.ts'
import { listen } from './listen.ts'

/** The server that answers in the end: a provider, a local one such as Ollama, or the stand-in. */
export interface Upstream {
  /** Where `/chat/completions` lives. */
  baseURL: string
  /** Stays in this process. */
  apiKey: string | undefined
  model: string
  standIn: boolean
  close(): Promise<void>
}

export type Settings = Readonly<Record<string, string | undefined>>

/** What the environment asks for; undefined where it asks for nothing. */
export function configuredUpstream(env: Settings): Upstream | undefined {
  const { OPENAI_BASE_URL: url, OPENAI_API_KEY: apiKey, OPENAI_MODEL: model } = env
  if (!url && !model) return undefined
  if (!model) throw new Error('OPENAI_BASE_URL is set, but not OPENAI_MODEL: which model shall answer?')
  if (!url && !apiKey) throw new Error('OPENAI_MODEL is set, but neither OPENAI_BASE_URL nor OPENAI_API_KEY.')
  return {
    baseURL: (url ?? 'https://api.openai.com/v1').replace(/\/+$/, ''),
    apiKey: apiKey || undefined,
    model,
    standIn: false,
    close: async () => {},
  }
}

/** The stand-in on a port of its own: to the proxy and the server it is one more provider on the network. */
async function standIn(options: StandInOptions): Promise<Upstream> {
  const { port, close } = await listen(createStandIn(options), { port: 0 })
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    apiKey: undefined,
    model: 'stand-in',
    standIn: true,
    close,
  }
}

/** The configured server, else the stand-in. */
export const openUpstream = async (env: Settings, options: StandInOptions): Promise<Upstream> =>
  configuredUpstream(env) ?? (await standIn(options))
