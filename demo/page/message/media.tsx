import type { Block } from 'tidemark'
import { webAddress } from '../web-address.ts'

const SHOWN = /^image\/(?:png|jpeg|gif|webp|avif)$/

/** Pictures and files. What would have to be fetched from elsewhere is a link: the page loads nothing by itself. */
export function Media({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, index) => {
    if (block.type !== 'image' && block.type !== 'file') return null
    const name = block.name ?? (block.type === 'image' ? 'Image' : 'File')
    // A block has no identity but its place.
    const key = `${index}:${block.type}`
    if (block.data && SHOWN.test(block.mimeType))
      return <img key={key} src={`data:${block.mimeType};base64,${block.data}`} alt={name} />
    const address = block.url ? webAddress(block.url) : undefined
    if (address)
      return (
        <p key={key}>
          <a href={address.href} target="_blank" rel="noopener noreferrer nofollow">
            {name} ({address.host})
          </a>
        </p>
      )
    return <p key={key}>{`${name} (${block.mimeType})`}</p>
  })
}
