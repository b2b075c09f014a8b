import type { Message } from '../message/schema.ts'
import type { AssembledContext } from './assemble.ts'

/**
 * What a model would get to see: as `assembleContext` tells it, or, of a context that somebody assembled by other means,
 * what there is of it.
 */
export type ContextView = Partial<Omit<AssembledContext, 'messages'>> & { messages: readonly Message[] }
