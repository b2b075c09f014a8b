import type { Pace } from './run-log.ts'

/** One chat on a server made for one library, as that library's documentation would have it. */
export interface Backend {
  /** @param path what follows the chat's own address */
  fetch(request: Request, path: string): Promise<Response>
  /** How many answers were begun. */
  runs(): number
  close(): Promise<void>
}

export type OpenBackend = (pace: Pace) => Backend
