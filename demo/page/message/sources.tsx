import type { Block } from 'tidemark'
import { webAddress } from '../web-address.ts'

/** What an answer cites; addresses that are not of the web are left out. */
export function Sources({ blocks }: { blocks: readonly Block[] }) {
  const cited = new Map<string, string>()
  for (const block of blocks) {
    const address = block.type === 'source' ? webAddress(block.url) : undefined
    if (block.type === 'source' && address) cited.set(address.href, block.title ?? address.host)
  }
  if (cited.size === 0) return null
  return (
    <ol className="sources" aria-label="Sources">
      {[...cited].map(([url, title]) => (
        <li key={url}>
          <a href={url} target="_blank" rel="noopener noreferrer nofollow">
            {title}
          </a>
        </li>
      ))}
    </ol>
  )
}
