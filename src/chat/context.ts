import type { Env } from '../lib/env.ts'
import type { ErrorData } from '../lib/error-data.ts'
import type { Platform } from './platform.ts'

/** What every part of one chat shares. */
export interface ChatContext {
  env: Env
  platform: Platform
  account: string
  /** Told of what went wrong without anybody waiting for it, and how many rows or events were lost by it; shown through `chat.health`. */
  onProblem(error: ErrorData, unread?: number): void
}
