import * as z from 'zod/mini'

/** Whose insides are the caller's, with names of its own. */
const OPAQUE = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
])

/** A request with its names as Google's JSON has them: it takes `function_call` for `functionCall`. */
export function camelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [name, OPAQUE.has(name) ? inner : camelled(inner)]
    }),
  )
}

const Media = z.looseObject({ mimeType: z.optional(z.string()) })
const Struct = z.record(z.string(), z.unknown())

export const Part = z.looseObject({
  text: z.optional(z.string()),
  thought: z.optional(z.boolean()),
  thoughtSignature: z.optional(z.string()),
  inlineData: z.optional(z.extend(Media, { data: z.string() })),
  fileData: z.optional(z.extend(Media, { fileUri: z.string() })),
  videoMetadata: z.optional(z.unknown()),
  functionCall: z.optional(
    z.looseObject({ id: z.optional(z.string()), name: z.string(), args: z.optional(Struct) }),
  ),
  functionResponse: z.optional(
    z.looseObject({
      id: z.optional(z.string()),
      name: z.string(),
      response: Struct,
      parts: z.optional(z.array(z.looseObject({}))),
    }),
  ),
})
export type Part = z.infer<typeof Part>

export const Content = z.looseObject({ role: z.optional(z.string()), parts: z.array(Part) })
export type Content = z.infer<typeof Content>

const Declaration = z.looseObject({ name: z.string(), parameters: z.optional(z.unknown()) })

export const GeminiBody = z.looseObject({
  contents: z.array(Content),
  // A single part stands for a list of one.
  systemInstruction: z.optional(z.looseObject({ parts: z.union([z.array(Part), Part]) })),
  tools: z.optional(z.array(z.looseObject({ functionDeclarations: z.optional(z.array(Declaration)) }))),
  toolConfig: z.optional(
    z.looseObject({
      functionCallingConfig: z.optional(
        z.looseObject({
          mode: z.optional(z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED'])),
          allowedFunctionNames: z.optional(z.array(z.string())),
        }),
      ),
    }),
  ),
  generationConfig: z.optional(
    z.looseObject({
      temperature: z.optional(z.number()),
      maxOutputTokens: z.optional(z.number()),
      stopSequences: z.optional(z.array(z.string())),
    }),
  ),
})
export type GeminiBody = z.infer<typeof GeminiBody>

/** What goes over the wire: undefined fields are gone. */
export const sentGemini = (body: unknown): GeminiBody =>
  GeminiBody.parse(camelled(JSON.parse(JSON.stringify(body))))
