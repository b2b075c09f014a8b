import { describe, expect, test } from 'vitest'
import { type JsonSchema, violations } from '../../src/lib/json-schema.ts'

const person: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string', minLength: 1 }, age: { type: 'integer', minimum: 0 } },
  required: ['name'],
  additionalProperties: false,
}
const tree: JsonSchema = {
  $ref: '#/$defs/node',
  $defs: {
    node: { type: 'object', properties: { of: { items: { $ref: '#/$defs/node' } } }, required: ['of'] },
  },
}

describe('a value', () => {
  test.each<[string, JsonSchema, unknown]>([
    ['of the right type', { type: 'string' }, ''],
    ['of one of several types', { type: ['string', 'null'] }, null],
    ['that is whole', { type: 'integer' }, 3],
    ['with all that is needed', person, { name: 'Ada' }],
    ['with more than is needed', { type: 'object', properties: {} }, { more: 1 }],
    ['of an unknown type', { type: 'date' }, 'today'],
    ['of an enumeration', { enum: ['a', { b: 1 }] }, { b: 1 }],
    ['that is the constant', { const: null }, null],
    ['that fits one of several', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 1],
    ['that fits all of several', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2],
    ['in a list', { type: 'array', items: { type: 'number' }, maxItems: 2 }, [1, 2]],
    ['in its place of a list', { prefixItems: [{ type: 'number' }], items: { type: 'string' } }, [1, 'a']],
    ['as long as it may be, in characters', { maxLength: 1 }, '🌊'],
    ['like the pattern', { pattern: '^\\p{L}+$' }, 'é'],
    ['in a schema that refers to itself', tree, { of: [{ of: [] }] }],
    ['where nothing is asked', {}, undefined],
    ['under a keyword that nobody knows', { format: 'email' }, 'x'],
  ])('%s is let through', (_, schema, value) => expect(violations(schema, value)).toEqual([]))

  test.each<[string, JsonSchema, unknown, string[]]>([
    ['of another type', { type: 'string' }, 1, ['expected string']],
    ['of none of the types', { type: ['string', 'null'] }, 1, ['expected string or null']],
    ['that is a list where an object is wanted', { type: 'object' }, [], ['expected object']],
    ['that is null where an object is wanted', { type: 'object' }, null, ['expected object']],
    ['that is not whole', { type: 'integer' }, 0.5, ['expected integer']],
    ['without what is needed', person, {}, ['name is missing']],
    ['with what is not wanted', person, { name: 'A', x: 1 }, ['x is not expected']],
    [
      'with several faults',
      person,
      { name: '', age: -1 },
      ['name: expected a length of at least 1', 'age: expected at least 0'],
    ],
    ['deep inside', { items: person }, [{ name: 1 }], ['[0].name: expected string']],
    ['outside the enumeration', { enum: [1, 'a'] }, 2, ['expected one of 1, "a"']],
    ['that is not the constant', { const: 1 }, 2, ['expected 1']],
    ['that fits nothing', { oneOf: [{ type: 'string' }] }, 1, ['fits none of what is possible here']],
    ['too long', { maxItems: 0 }, [1], ['expected a length of at most 0']],
    ['too large', { maximum: 1 }, 2, ['expected at most 1']],
    ['unlike the pattern', { pattern: '^a$' }, 'b', ['expected to match ^a$']],
    ['that nothing fits', { properties: { a: false } }, { a: 1 }, ['a is not expected']],
    ['by a schema that refers to itself', tree, { of: [{}] }, ['of[0].of is missing']],
    ['of a prototype', person, JSON.parse('{"name":"A","__proto__":1}'), ['__proto__ is not expected']],
  ])('%s is told of', (_, schema, value, expected) => expect(violations(schema, value)).toEqual(expected))

  test('a schema that only refers to itself ends', () => {
    expect(violations({ $ref: '#' }, 1)).toEqual([])
  })
})
