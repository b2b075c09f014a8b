import { TidemarkError } from './errors.ts'

/** Refuses what a caller gave, by the name of the field and what was expected in it. Throws `invalid-request`. */
export function expectOption(isRight: boolean, expected: string): asserts isRight {
  if (!isRight) throw new TidemarkError('invalid-request', expected)
}

/** Whether a value has a method of this name: what a port is known by. */
export const hasMethod = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
