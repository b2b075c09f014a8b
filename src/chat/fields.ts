import type { ErrorData } from '../lib/error-data.ts'
import type { Connection } from './types.ts'

/** What is known of a session besides the fold of its events. */
export interface CoreFields {
  connection: Connection
  /** What is wrong with the line that trying again will not mend. */
  error: ErrorData | undefined
  loading: boolean
  tidemark: string | null
  /** The term of what is known, as `StoredSession` has it. */
  term: number
  /** Whether everything older is loaded or stored. */
  complete: boolean
  /** Whether something older is stored that is not loaded. */
  unread: boolean
  /** Whether another answer waits to be asked for: no message shows it. */
  asked: boolean
  /** Nothing is heard of the tab that runs what is in flight. */
  stalled: boolean
}

/** Before anything is read or heard. */
export const UNKNOWN: CoreFields = {
  connection: 'idle',
  error: undefined,
  loading: true,
  tidemark: null,
  term: 0,
  complete: false,
  unread: false,
  asked: false,
  stalled: false,
}
