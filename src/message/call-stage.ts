import * as z from 'zod/mini'

/** Where a call stands that has no result yet. */
export const CallStage = z.enum([
  /** Somebody has to allow it. */
  'approval',
  'approved',
  /** The result comes from elsewhere: from a page, or from a person. */
  'client',
  /** It is being executed, or was when whoever did that went. */
  'started',
])
export type CallStage = z.infer<typeof CallStage>
