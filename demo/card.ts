import type { OutputOptions } from 'tidemark'
import * as z from 'zod/mini'

/** An answer in a few points. */
export const Card = z.object({ title: z.string(), points: z.array(z.string()) })
export type Card = z.infer<typeof Card>

/** Asks for one. A model that gets it wrong may look at that once. */
export const CARD: OutputOptions = {
  schema: Card,
  jsonSchema: z.toJSONSchema(Card),
  name: 'card',
  repair: true,
}
