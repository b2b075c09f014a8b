import { isRecord } from '../protocol/lenient.ts'
import { joinJson } from './join-json.ts'
import { type JsonRecord, list, string } from './json.ts'

/** What Gemini reads of JSON Schema as it stands. To other keywords it answers "Unknown name", or pays no heed. */
const KEYWORDS =
  /^(type|title|description|enum|(min|max)Items|minimum|maximum|required|additionalProperties|propertyOrdering)$/
const FORMATS = /^(date-time|date|time|duration|int32|int64|float|double|enum)$/

type Rule = (value: unknown) => JsonRecord

/** What it knows under another name, or with schemas in it. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['const', (value) => ({ enum: [value] })],
  ['oneOf', (value) => ({ anyOf: list(value).map(reduceSchema) })],
  ['anyOf', (value) => ({ anyOf: list(value).map(reduceSchema) })],
  ['allOf', (value) => list(value).map(reduceSchema).reduce(joinJson, {})],
  ['prefixItems', (value) => ({ prefixItems: list(value).map(reduceSchema) })],
  ['items', (value) => ({ items: reduceSchema(value) })],
  ['properties', (value) => ({ properties: reduceEach(value) })],
  ['$defs', (value) => ({ $defs: reduceEach(value) })],
  ['definitions', (value) => ({ $defs: reduceEach(value) })],
  ['$ref', (value) => ({ $ref: string(value).replace(/^#\/definitions\//, '#/$defs/') })],
  ['format', (value): JsonRecord => (FORMATS.test(string(value)) ? { format: value } : {})],
])

/**
 * A JSON Schema as Gemini takes it: `const` as the only choice, `oneOf` as `anyOf`, `allOf` as one, and without what it does
 * not know. It says less than before, so what the model writes has still to be validated.
 */
export function reduceSchema(schema: unknown): JsonRecord {
  let reduced: JsonRecord = {}
  for (const [key, value] of Object.entries(isRecord(schema) ? schema : {})) {
    const rule = RULES.get(key)
    if (rule) reduced = joinJson(reduced, rule(value))
    else if (KEYWORDS.test(key))
      reduced = joinJson(reduced, { [key]: isRecord(value) ? reduceSchema(value) : value })
  }
  return reduced
}

const reduceEach = (schemas: unknown): JsonRecord =>
  Object.fromEntries(
    Object.entries(isRecord(schemas) ? schemas : {}).map(([name, schema]) => [name, reduceSchema(schema)]),
  )
