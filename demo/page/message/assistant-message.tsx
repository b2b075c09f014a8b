import type { ReactNode } from 'react'
import { type AssistantBlock, type AssistantMessage as AssistantRecord, textOf } from 'tidemark'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Branches } from './branches.tsx'
import { Card, useIsCard } from './card.tsx'
import { Media } from './media.tsx'
import { useRegenerate } from './regenerate.ts'
import { Sources } from './sources.tsx'

interface Props {
  message: AssistantRecord
  siblings: readonly string[]
  busy: boolean
  still: boolean
  /** Said between the content and the tools. */
  children: ReactNode
}

function Thinking({ text, growing }: { text: string; growing: boolean }) {
  return (
    <details className="aside">
      <summary>{growing ? 'Thinking' : 'Thoughts before the answer'}</summary>
      <p>{text}</p>
    </details>
  )
}

function ToolCall({ block }: { block: Extract<AssistantBlock, { type: 'toolCall' }> }) {
  const args =
    block.arguments === undefined ? (block.rawArguments ?? '') : JSON.stringify(block.arguments, null, 2)
  return (
    <details className="aside">
      <summary>
        Calls <code>{block.name}</code>
      </summary>
      <pre>{args}</pre>
    </details>
  )
}

/** One block; `growing` while more of it may come. */
function BlockView({ block, growing }: { block: AssistantBlock; growing: boolean }) {
  switch (block.type) {
    case 'text':
      return <Markdown text={block.text} growing={growing} />
    case 'thinking':
      return block.text ? <Thinking text={block.text} growing={growing} /> : null
    case 'toolCall':
      return <ToolCall block={block} />
    case 'image':
      return <Media blocks={[block]} />
    case 'source':
      return null
    case 'other':
      return <p className="faint">A part of this answer is of a kind that this page does not know.</p>
  }
}

function Regenerate({ id, busy }: { id: string; busy: boolean }) {
  const again = useRegenerate(id)
  return (
    <button
      type="button"
      className="quiet"
      aria-label="Regenerate answer"
      title="Regenerate"
      disabled={busy}
      onClick={again}
    >
      <Icon name="again" />
    </button>
  )
}

/** Who answered, and what it took; where the provider says so. */
function Origin({ message }: { message: AssistantRecord }) {
  const parts = [
    message.model,
    message.usage ? `${message.usage.total.toLocaleString('en')} tokens` : undefined,
  ].filter((part) => part !== undefined)
  return parts.length > 0 ? <span className="origin">{parts.join(' · ')}</span> : null
}

/** A block has no identity but its place. */
const placed = (blocks: readonly AssistantBlock[]) => blocks.map((block, place) => ({ block, place }))

export function AssistantMessage({ message, siblings, busy, still, children }: Props) {
  const streaming = message.status === 'streaming'
  const settled = !streaming && message.status !== 'pending'
  const last = message.content.length - 1
  const text = textOf(message)
  const isCard = useIsCard(message) && text !== ''
  const content = placed(message.content).map(({ block, place }) => (
    <BlockView key={place} block={block} growing={streaming && place === last} />
  ))
  return (
    <>
      {isCard ? <Card message={message}>{content}</Card> : content}
      <Sources blocks={message.content} />
      {children}
      {settled ? (
        <div className="tools">
          <Branches id={message.id} siblings={siblings} busy={!still} />
          {text ? <CopyButton text={text} label="Copy answer" /> : null}
          {message.status === 'completed' ? <Regenerate id={message.id} busy={busy} /> : null}
          <Origin message={message} />
        </div>
      ) : null}
    </>
  )
}
