import * as z from 'zod/mini'

/** What the text of an answer has to be, as it is kept with the message that asks for it. */
export const OutputShape = z.object({
  /** JSON Schema. */
  schema: z.looseObject({}),
  /** For the model: what this is. */
  name: z.optional(z.string()),
  /** Whether the provider is to hold the model to the schema, where it can. */
  strict: z.optional(z.boolean()),
  /** Whether the model is shown, once, what is wrong with an answer that does not fit. */
  repair: z.optional(z.boolean()),
})
export type OutputShape = z.infer<typeof OutputShape>
