import { memo, useRef } from 'react'
import { EMPTY, type GrowingMarkdown, growMarkdown, type MarkdownBlock, wholeMarkdown } from './blocks.ts'
import { CodeBlock } from './code-block.tsx'
import { useFilled } from './filled.tsx'
import { useOverflow } from './overflow.ts'

interface BlockProps {
  block: MarkdownBlock
  /** More of it may come. */
  open: boolean
}

/** A table too wide for the page scrolls by itself, also with the keyboard. */
function TableBlock({ block, open }: BlockProps) {
  const ref = useRef<HTMLDivElement>(null)
  useFilled(ref, block, open)
  const scrolls = useOverflow(ref)
  const reachable = scrolls ? { role: 'region', 'aria-label': 'Table', tabIndex: 0 } : {}
  return <div className="table" ref={ref} {...reachable} />
}

function ProseBlock({ block, open }: BlockProps) {
  const ref = useRef<HTMLDivElement>(null)
  const copyButtons = useFilled(ref, block, open)
  return (
    <>
      <div className="prose" ref={ref} />
      {copyButtons}
    </>
  )
}

/** Renders again only where its source changed: finished blocks of a growing answer are left alone. */
const Block = memo(
  function Block({ block, open }: BlockProps) {
    const { token } = block
    if (token.type === 'code') return <CodeBlock code={String(token.text)} lang={String(token.lang ?? '')} />
    return token.type === 'table' ? (
      <TableBlock block={block} open={open} />
    ) : (
      <ProseBlock block={block} open={open} />
    )
  },
  (before, after) =>
    before.open === after.open &&
    before.block.raw === after.block.raw &&
    before.block.token.type === after.block.token.type,
)

interface Shown {
  text: string
  growing: boolean
  blocks: readonly MarkdownBlock[]
  /** How many of them are finished. */
  finished: number
}

function show(text: string, growing: boolean, grown: GrowingMarkdown): Shown {
  const blocks = growing ? [...grown.settled, ...grown.tail] : wholeMarkdown(text)
  return { text, growing, blocks, finished: growing ? grown.settled.length : blocks.length }
}

/** The blocks of a text; while it grows, what was read before is not read again. */
function useShown(text: string, growing: boolean): Shown {
  const grown = useRef(EMPTY)
  const shown = useRef<Shown>(null)
  if (growing) grown.current = growMarkdown(grown.current, text)
  const before = shown.current
  if (before && before.text === text && before.growing === growing) return before
  shown.current = show(text, growing, grown.current)
  return shown.current
}

/** A model's Markdown. While it grows, only its end is read and rendered. */
export function Markdown({ text, growing }: { text: string; growing: boolean }) {
  const { blocks, finished } = useShown(text, growing)
  return (
    <div className="markdown" data-growing={growing || undefined}>
      {blocks.map((block) => (
        <Block key={block.place} block={block} open={block.place >= finished} />
      ))}
    </div>
  )
}
