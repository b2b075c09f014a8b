/** Where something comes from that is not part of the conversation's window. */
export interface Provenance {
  kind: 'fact' | 'message'
  /** Of the fact, or of the message; a message that is in the window anyway is not sent a second time. */
  id: string
  sessionId?: string
  /** Milliseconds since the epoch; for display. */
  at?: number
  /** In words for the model, such as `said in May` or the name of a document. */
  source?: string
}

/** Something from outside of the window that may help to answer. */
export interface Recalled {
  text: string
  provenance: Provenance
  /** How near it is to what was asked; the higher, the nearer. */
  score?: number
}

/** What a memory is asked. */
export interface RecallQuery {
  sessionId: string
  /** The text of the newest user message. */
  text: string
  /** Messages that are sent anyway. */
  exclude: ReadonlySet<string>
}

/** Looks for what may help to answer, the nearest first. */
export type Recall = (
  query: RecallQuery,
  options: { signal: AbortSignal },
) => readonly Recalled[] | Promise<readonly Recalled[]>
