import { describe, expect, test } from 'vitest'
import { reduceSchema } from '../../src/adapters/gemini-schema.ts'

describe('a schema', () => {
  test('is reduced to what Gemini reads', () => {
    const schema = {
      $schema: 'x',
      definitions: { N: { const: 1 } },
      type: 'object',
      allOf: [{ required: ['b'], properties: { b: { oneOf: [{ $ref: '#/definitions/N' }, { not: {} }] } } }],
      properties: {
        const: { type: 'string', format: 'email', pattern: 'x', minLength: 1 },
        when: { type: 'string', format: 'date-time' },
        list: {
          type: 'array',
          items: { type: 'integer', exclusiveMinimum: 0 },
          minItems: 1,
          uniqueItems: true,
        },
        map: { type: 'object', additionalProperties: { const: 'c' } },
      },
      required: ['const'],
    }
    expect(reduceSchema(schema)).toEqual({
      $defs: { N: { enum: [1] } },
      type: 'object',
      properties: {
        b: { anyOf: [{ $ref: '#/$defs/N' }, {}] },
        const: { type: 'string' },
        when: { type: 'string', format: 'date-time' },
        list: { type: 'array', items: { type: 'integer' }, minItems: 1 },
        map: { type: 'object', additionalProperties: { enum: ['c'] } },
      },
      required: ['b', 'const'],
    })
  })
})
