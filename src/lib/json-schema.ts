/** A JSON Schema, as far as it is plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Deeper than any value that fits: a schema that refers to itself must end, too. */
const DEEPEST = 200

interface Place {
  root: JsonSchema
  /** Where in the value: `.a[0]`; empty at its top. */
  path: string
  depth: number
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const saying = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

/** The schema that a local `$ref` names. */
function referred({ root }: Place, ref: string): unknown {
  let found: unknown = root
  for (const part of ref.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    found = isRecord(found) || Array.isArray(found) ? Reflect.get(found, key) : undefined
  }
  return found
}

const fits = (schema: unknown, value: unknown, at: Place): boolean =>
  [...check(schema, value, at)].length === 0

function* checkObject(schema: JsonSchema, value: JsonSchema, at: Place): Generator<string> {
  const { properties, additionalProperties } = schema
  const known = isRecord(properties) ? properties : {}
  for (const key of listOf(schema.required))
    if (typeof key === 'string' && !Object.hasOwn(value, key)) yield `${at.path}.${key} is missing`
  for (const [key, field] of Object.entries(value)) {
    const own = Object.hasOwn(known, key) ? known[key] : additionalProperties
    if (own === false) yield `${at.path}.${key} is not expected`
    else yield* check(own, field, { ...at, path: `${at.path}.${key}`, depth: at.depth + 1 })
  }
}

function* checkArray(schema: JsonSchema, value: readonly unknown[], at: Place): Generator<string> {
  const first = listOf(schema.prefixItems)
  for (const [index, item] of value.entries()) {
    const own = index < first.length ? first[index] : schema.items
    yield* check(own, item, { ...at, path: `${at.path}[${index}]`, depth: at.depth + 1 })
  }
}

/** Keywords that bound a size: what they measure, and whether they are a lower bound. */
const BOUNDS: readonly (readonly [keyword: string, size: (value: unknown) => unknown, words: string])[] = [
  ['minimum', (value) => value, 'at least'],
  ['maximum', (value) => value, 'at most'],
  ['minLength', (value) => typeof value === 'string' && [...value].length, 'a length of at least'],
  ['maxLength', (value) => typeof value === 'string' && [...value].length, 'a length of at most'],
  ['minItems', (value) => Array.isArray(value) && value.length, 'a length of at least'],
  ['maxItems', (value) => Array.isArray(value) && value.length, 'a length of at most'],
]

function* checkBounds(schema: JsonSchema, value: unknown, { path }: Place): Generator<string> {
  for (const [keyword, sizeOf, words] of BOUNDS) {
    const bound = schema[keyword]
    const size = sizeOf(value)
    if (typeof bound !== 'number' || typeof size !== 'number') continue
    if (keyword.startsWith('min') ? size < bound : size > bound) yield `${path}: expected ${words} ${bound}`
  }
  if (typeof schema.pattern === 'string' && typeof value === 'string')
    if (!new RegExp(schema.pattern, 'u').test(value)) yield `${path}: expected to match ${schema.pattern}`
}

function* checkChoices(schema: JsonSchema, value: unknown, at: Place): Generator<string> {
  const { path } = at
  const given = saying(value)
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => saying(one) === given))
    yield `${path}: expected one of ${schema.enum.map(saying).join(', ')}`
  if ('const' in schema && saying(schema.const) !== given) yield `${path}: expected ${saying(schema.const)}`
  const deeper = { ...at, depth: at.depth + 1 }
  for (const all of listOf(schema.allOf)) yield* check(all, value, deeper)
  for (const any of [schema.anyOf, schema.oneOf])
    if (Array.isArray(any) && !any.some((one) => fits(one, value, deeper)))
      yield `${path}: fits none of what is possible here`
}

function* check(schema: unknown, value: unknown, at: Place): Generator<string> {
  if (schema === false) yield `${at.path}: nothing is expected`
  if (!isRecord(schema) || at.depth > DEEPEST) return
  if (typeof schema.$ref === 'string')
    yield* check(referred(at, schema.$ref), value, { ...at, depth: at.depth + 1 })
  const types = typeof schema.type === 'string' ? [schema.type] : listOf(schema.type)
  const known = types.filter((type) => typeof type === 'string' && Object.hasOwn(TYPES, type))
  if (known.length > 0 && !known.some((type) => TYPES[String(type)]?.(value))) {
    yield `${at.path}: expected ${known.join(' or ')}`
    return
  }
  yield* checkChoices(schema, value, at)
  yield* checkBounds(schema, value, at)
  if (isRecord(value)) yield* checkObject(schema, value, at)
  else if (Array.isArray(value)) yield* checkArray(schema, value, at)
}

/**
 * What is wrong with a value by a JSON Schema, in words; empty where nothing is. Knows what schemas of tools are made of:
 * `type`, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, `enum`, `const`, `anyOf`, `oneOf`
 * (as `anyOf`), `allOf`, local `$ref`, bounds of numbers and lengths, `pattern`. Other keywords are let through.
 * Throws `SyntaxError` for a pattern that is none.
 *
 * @see https://json-schema.org/draft/2020-12
 */
export const violations = (schema: JsonSchema, value: unknown): string[] =>
  [...check(schema, value, { root: schema, path: '', depth: 0 })].map((words) => words.replace(/^[.:] ?/, ''))
