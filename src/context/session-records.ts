/** A derived row of one session. */
export interface SessionRecord {
  /** Unique within kind and session. */
  key: string
  /** Plain JSON, as it was stored: by this version, or by another one. */
  value: unknown
}

/**
 * Where what is derived from a session is kept, such as its summaries: never the truth, and may be gone at any time. It is
 * deleted with its session. Failures are thrown as `TidemarkError`.
 */
export interface SessionRecords {
  read(kind: string): Promise<readonly SessionRecord[]>
  /** Puts records, and deletes others, in one transaction. */
  write(kind: string, put: readonly SessionRecord[], gone?: readonly string[]): Promise<void>
}
