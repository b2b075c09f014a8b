import { join } from 'node:path'
import { root } from '../scripts/bootstrap.mjs'
import { budgets } from '../test/support/budgets.ts'
import { measureBundle } from '../test/support/measure-bundle.ts'

export interface Size {
  what: string
  /** Minified. */
  bytes: number
  /** Minified and gzipped. */
  gzip: number
  /** What it was promised to weigh at most, gzipped. */
  most?: number
}

const folder = join(root, 'bench')

/** What the same page would bundle of another library. React is left out everywhere. */
const peers: readonly { what: string; entry: string }[] = [
  {
    what: 'AI SDK 7: useChat and its transport',
    entry: "export { useChat } from '@ai-sdk/react'\nexport { DefaultChatTransport } from 'ai'",
  },
  {
    what: 'TanStack AI: ChatClient and its transport',
    entry: "export { ChatClient, fetchServerSentEvents } from '@tanstack/ai-client'",
  },
]

/** Every bundle that has a budget, and the peers', by the same bundler with the same settings. */
export async function measureSizes(): Promise<{ ours: Size[]; peers: Size[] }> {
  const ours: Size[] = []
  for (const { what, entry, without, external = [], most, promised = most } of budgets) {
    const whole = await measureBundle({ entry, external })
    const base = without ? await measureBundle({ entry: without, external }) : { bytes: 0, gzip: 0 }
    ours.push({ what, most: promised, bytes: whole.bytes - base.bytes, gzip: whole.gzip - base.gzip })
  }
  const others: Size[] = []
  for (const { what, entry } of peers)
    others.push({ what, ...(await measureBundle({ entry, external: ['react', 'react-dom'], folder })) })
  return { ours, peers: others }
}
