import { type ReactNode, useMemo } from 'react'
import { type AssistantMessage, liveOutput, type Message, textOf } from 'tidemark'
import { useStore } from 'tidemark/react'
import { Card as CardValue } from '../../card.ts'
import { useConversation } from './conversation.ts'

/** An answer as it is said aloud. */
export function spokenOf(message: Message): string {
  const text = textOf(message)
  try {
    const { title, points } = CardValue.parse(JSON.parse(text))
    return [title, ...points].join(' ')
  } catch {
    // It is in words already.
    return text
  }
}

/** Whether an answer was to be a card: its question says so. */
export function useIsCard({ parentId }: AssistantMessage): boolean {
  const { session } = useConversation()
  let before: Message | undefined
  for (let id = parentId; id !== null; id = before?.parentId ?? null) {
    before = session.message(id).get()
    if (before?.role === 'user') return before.output?.name === 'card'
  }
  return false
}

/** An answer in a few points, as it is written; in words where it is something else. */
export function Card({ message, children }: { message: AssistantMessage; children: ReactNode }) {
  const { session } = useConversation()
  const store = useMemo(() => liveOutput<CardValue>(session.message(message.id)), [session, message.id])
  const { value } = useStore(store)
  // Until it has settled, nobody has checked what is there.
  const { title, points } = Object(value)
  if (typeof title !== 'string' || message.status === 'failed') return children
  const items: unknown[] = Array.isArray(points) ? points : []
  return (
    <section className="card" aria-label="Answer as a card">
      <h3>{title}</h3>
      <ul>
        {items.map((point, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a point has no identity but its place
          <li key={place}>{String(point)}</li>
        ))}
      </ul>
    </section>
  )
}
