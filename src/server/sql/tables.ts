import type { Kysely } from 'kysely'

/** What is JSON is text in both engines; what is a flag, 0 or 1. */
export interface Tables {
  sessions: {
    id: string
    account: string
    /** Rises with each visible change within the account: the order of lists. */
    recency: number
    seq: number
    rev: number
    events: number
    tag: string | null
    trimmed: number
    published: number
    epoch: number
    deleted: number
    /** `Session` */
    data: string
  }
  messages: {
    account: string
    id: string
    session: string
    parent: string | null
    seq: number
    rev: number
    unsettled: number
    deleted: number
    run: string | null
    folded: number
    /** `Message`; empty for a tombstone. */
    data: string
  }
  events: {
    session: string
    n: number
    tag: string
    /** The message that a delta belongs to: by this, an unsettled message is read whole. */
    message: string | null
    /** `ChatEvent` */
    data: string
  }
  runs: {
    account: string
    id: string
    session: string
    kind: string
    state: string
    place: number
    answers: string | null
    /** Ids, as a JSON array. */
    messages: string
    epoch: number
    lease: number
    outcome: string | null
    ended: number | null
  }
  keys: {
    account: string
    key: string
    session: string
    hash: string
    message: string | null
    run: string | null
    n: number
    tag: string
  }
  records: {
    session: string
    kind: string
    key: string
    /** JSON */
    data: string
  }
}

export type Db = Kysely<Tables>
