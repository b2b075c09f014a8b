import { count } from '../adapters/json.ts'

/** As much of a Prompt API session as is used. Its counts have had two names each. */
export interface LanguageModelSession {
  promptStreaming(input: readonly object[], options?: object): ReadableStream<unknown>
  measureContextUsage?(input: readonly object[], options?: object): Promise<number>
  measureInputUsage?(input: readonly object[], options?: object): Promise<number>
  readonly contextUsage?: number
  readonly inputUsage?: number
  destroy?(): void
}

/**
 * As much of the Prompt API as is used.
 * @see https://webmachinelearning.github.io/prompt-api/
 */
export interface LanguageModelApi {
  availability(options?: object): Promise<string>
  create(options?: object): Promise<LanguageModelSession>
}

/** The given API, or the platform's; undefined where there is none. */
export function languageModelOf(given: LanguageModelApi | undefined): LanguageModelApi | undefined {
  const found: unknown = given ?? Reflect.get(globalThis, 'LanguageModel')
  return isApi(found) ? found : undefined
}

const isApi = (value: unknown): value is LanguageModelApi =>
  (typeof value === 'function' || typeof value === 'object') &&
  value !== null &&
  ['availability', 'create'].every((name) => typeof Reflect.get(value, name) === 'function')

/** The browser hands over an event target, whose events say how far the download is. */
export const monitorOf = (onDownload: (loaded: number) => void) => (target: EventTarget) =>
  target.addEventListener('downloadprogress', (event) => onDownload(count(Reflect.get(event, 'loaded')) ?? 0))

/** How much of the window is taken; undefined where the browser does not say. */
export const usedIn = ({ contextUsage, inputUsage }: LanguageModelSession): number | undefined =>
  count(contextUsage) ?? count(inputUsage)

/** How much of the window a prompt takes; undefined where the browser does not say. The answer does not hang on it. */
export async function measure(session: LanguageModelSession, input: readonly object[], options: object) {
  try {
    const measured =
      session.measureContextUsage?.(input, options) ?? session.measureInputUsage?.(input, options)
    return count(await measured)
  } catch {
    return undefined
  }
}
