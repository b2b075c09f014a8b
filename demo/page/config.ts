import * as z from 'zod/mini'

/** What the page has to know of the server that serves it: `/config.json`. */
export const PageConfig = z.object({
  /** The model's name, as the proxy allows it. */
  model: z.string(),
  /** The local stand-in answers, for want of a key. */
  standIn: z.boolean(),
})
export type PageConfig = z.infer<typeof PageConfig>

export async function loadConfig(): Promise<PageConfig> {
  const response = await fetch('/config.json')
  if (!response.ok) throw new Error(`The server answered ${response.status}`)
  return PageConfig.parse(await response.json())
}
