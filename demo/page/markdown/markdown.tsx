import { memo, useLayoutEffect, useRef } from 'react'
import { EMPTY, growMarkdown, type MarkdownBlock, wholeMarkdown } from './blocks.ts'
import { CodeBlock } from './code-block.tsx'
import { safeNodes } from './html.ts'
import { useOverflow } from './overflow.ts'

/** A table too wide for the page scrolls by itself, also with the keyboard. */
function TableBlock({ block }: { block: MarkdownBlock }) {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => ref.current?.replaceChildren(safeNodes(block.token)), [block])
  const scrolls = useOverflow(ref)
  const reachable = scrolls ? { role: 'region', 'aria-label': 'Table', tabIndex: 0 } : {}
  return <div className="table" ref={ref} {...reachable} />
}

function ProseBlock({ block }: { block: MarkdownBlock }) {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => ref.current?.replaceChildren(safeNodes(block.token)), [block])
  return <div className="prose" ref={ref} />
}

/** Renders again only where its source changed: finished blocks of a growing answer are left alone. */
const Block = memo(
  function Block({ block }: { block: MarkdownBlock }) {
    const { token } = block
    if (token.type === 'code') return <CodeBlock code={String(token.text)} lang={String(token.lang ?? '')} />
    return token.type === 'table' ? <TableBlock block={block} /> : <ProseBlock block={block} />
  },
  (before, after) =>
    before.block.raw === after.block.raw && before.block.token.type === after.block.token.type,
)

/** The blocks of a text; while it grows, what was read before is not read again. */
function useBlocks(text: string, growing: boolean): readonly MarkdownBlock[] {
  const grown = useRef(EMPTY)
  const shown = useRef({ text: '', growing, list: EMPTY.settled })
  if (shown.current.text !== text || shown.current.growing !== growing) {
    if (growing) grown.current = growMarkdown(grown.current, text)
    const list = growing ? [...grown.current.settled, ...grown.current.tail] : wholeMarkdown(text)
    shown.current = { text, growing, list }
  }
  return shown.current.list
}

/** A model's Markdown. While it grows, only its end is read and rendered. */
export function Markdown({ text, growing }: { text: string; growing: boolean }) {
  const blocks = useBlocks(text, growing)
  return (
    <div className="markdown" data-growing={growing || undefined}>
      {blocks.map((block) => (
        <Block key={block.place} block={block} />
      ))}
    </div>
  )
}
