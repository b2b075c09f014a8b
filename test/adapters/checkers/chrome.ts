import * as z from 'zod/mini'

/**
 * What the browser's `LanguageModel` refuses in prompts. Written from the specification's algorithm to validate and
 * canonicalize a prompt, and from its web platform tests; never from what we send.
 * @see https://webmachinelearning.github.io/prompt-api/
 */
const Part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), value: z.string() }),
  z.strictObject({ type: z.literal('image'), value: z.instanceof(Blob) }),
])
const Prompt = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.union([z.string(), z.array(Part).check(z.minLength(1))]),
  prefix: z.optional(z.boolean()),
})
export const Prompts = z.array(Prompt)
export type Prompts = z.infer<typeof Prompts>

/** What a session is made with, and what it is asked then: every defect; empty where both are fine. */
export function chromeDefects(initial: unknown, input: unknown): string[] {
  const [seen, asked] = [Prompts.safeParse(initial), Prompts.safeParse(input)]
  if (!seen.success || !asked.success)
    return [seen, asked].flatMap(
      ({ error }) => error?.issues.map(({ path, message }) => `${path}: ${message}`) ?? [],
    )
  const all = [...seen.data, ...asked.data]
  return all.flatMap((prompt, i) => [
    ...promptDefects(prompt),
    // A TypeError: "system" is only for the first of the initial prompts
    ...(prompt.role === 'system' && (i > 0 || seen.data.length === 0) ? [`instructions at ${i}`] : []),
    ...(prompt.prefix && i < all.length - 1 ? ['a prefix that something follows'] : []),
  ])
}

function promptDefects({ role, content }: Prompts[number]): string[] {
  const parts = typeof content === 'string' ? [{ type: 'text', value: content }] : content
  const texts = parts.flatMap(({ value }) => (typeof value === 'string' ? value : []))
  return [
    // A NotSupportedError: "assistant" and "system" are text alone
    ...(role !== 'user' && texts.length < parts.length ? [`a picture of ${role}`] : []),
    ...(texts.length === parts.length && texts.join('').trim() === ''
      ? [`nothing in a prompt of ${role}`]
      : []),
    // The texts are USVStrings: what is half a character comes out as another.
    ...(/\p{Surrogate}/u.test(texts.join('\n')) ? ['half a surrogate pair'] : []),
  ]
}
