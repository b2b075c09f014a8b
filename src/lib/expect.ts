import { TidemarkError } from './errors.ts'

/** Refuses what a caller gave, by the name of the field and what was expected in it. Throws `invalid-request`. */
export function expectOption(isRight: boolean, expected: string): asserts isRight {
  if (!isRight) throw new TidemarkError('invalid-request', expected)
}

/** Refuses what is given for a number and is none, or is less than `least`. What is left out is right. */
export const expectNumber = (name: string, value: number | undefined, least = 0): void =>
  expectOption(
    value === undefined || (typeof value === 'number' && value >= least),
    `${name}: expected a number of at least ${least}, got ${value}`,
  )

/** Whether a value has a method of this name: what a port is known by. */
export const hasMethod = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function'
