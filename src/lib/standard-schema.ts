import { type JsonSchema, violations } from './json-schema.ts'

/** What is wrong with a value, and where. */
interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** How a value was found: as it is to be used, or with what is wrong with it. */
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/**
 * A schema of zod, Valibot, ArkType or any other library that speaks Standard Schema; written down here, so that no package
 * has to be there for its types.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    /** The same as JSON Schema, where the library can say it: zod from 4.2, ArkType from 2.1.28. May throw. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
      | undefined
  }
}

/** The type of what a schema lets through. */
export type OutputOf<S> = S extends StandardSchema<unknown, infer Output> ? Output : unknown

/** A schema in either language. JSON Schema is any object: the libraries that make it have types of their own for it. */
export type Schema = object | StandardSchema

const isStandard = (schema: Schema): schema is StandardSchema => '~standard' in schema

/** A JSON Schema without its dialect: that is ours, whatever it says. */
const plain = ({ $schema: _, ...rest }: Readonly<Record<string, unknown>>): JsonSchema => rest

/** The schema as JSON Schema; undefined where its library cannot say it, or not this one. */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  if (!isStandard(schema)) return plain({ ...schema })
  try {
    const said = plain(schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? {})
    return Object.keys(said).length > 0 ? said : undefined
  } catch {
    return undefined
  }
}

/** A problem as it is told: where, and what. */
function wordsOf({ message, path = [] }: StandardIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
  return keys.length > 0 ? `${keys.join('.')}: ${message}` : message
}

/** The value as a schema lets it through, or what is wrong with it in words. Rejects with what a schema's own code throws. */
export async function conform(
  schema: Schema,
  value: unknown,
): Promise<{ value: unknown } | { problem: string }> {
  if (isStandard(schema)) {
    const found = await schema['~standard'].validate(value)
    return found.issues ? { problem: found.issues.map(wordsOf).join('; ') } : { value: found.value }
  }
  const problems = violations(plain({ ...schema }), value)
  return problems.length > 0 ? { problem: problems.join('; ') } : { value }
}
