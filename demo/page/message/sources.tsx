import type { Block } from '../../../src/index.ts'

/** What an answer cites; addresses that are not of the web are left out. */
export function Sources({ blocks }: { blocks: readonly Block[] }) {
  const cited = new Map<string, string>()
  for (const block of blocks)
    if (block.type === 'source' && /^https?:/i.test(block.url) && URL.canParse(block.url))
      cited.set(block.url, block.title ?? new URL(block.url).host)
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
