import type { Role, Status } from './schema.ts'

/** What can happen to a message's status by an event. A row of a higher `rev` is not bound by this. */
export type StatusEvent = 'start' | 'resume' | 'complete' | 'fail' | 'interrupt' | 'retry'

/** The status an event leads to, or null where it has no effect. */
export type StatusTable = Readonly<Record<Status, Readonly<Record<StatusEvent, Status | null>>>>

const never = { start: null, resume: null, complete: null, fail: null, interrupt: null, retry: null } as const

/**
 * One table per role, every cell written. `resume` is a `message.started` with a higher event number;
 * whether the runtime can resume decides whether it is ever sent.
 */
export const STATUS: Readonly<Record<Role, StatusTable>> = {
  assistant: {
    pending: { ...never, start: 'streaming', fail: 'failed', interrupt: 'interrupted' },
    streaming: { ...never, complete: 'completed', fail: 'failed', interrupt: 'interrupted' },
    interrupted: { ...never, resume: 'streaming' },
    completed: never,
    failed: never,
  },
  user: {
    pending: { ...never, complete: 'completed', fail: 'failed' },
    streaming: never,
    interrupted: never,
    completed: never,
    failed: { ...never, retry: 'pending' },
  },
  tool: {
    pending: { ...never, complete: 'completed', fail: 'failed' },
    streaming: never,
    interrupted: never,
    completed: never,
    failed: never,
  },
  system: { pending: never, streaming: never, interrupted: never, completed: never, failed: never },
}

/** Where `event` leads a message of `role` that is in `status`; null where it may not happen. */
export const next = (role: Role, status: Status, event: StatusEvent): Status | null =>
  STATUS[role][status][event]

/** Whether `event` may happen to a message of `role` that is in `status`. */
export const can = (role: Role, status: Status, event: StatusEvent): boolean =>
  next(role, status, event) !== null
