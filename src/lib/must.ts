import type * as z from 'zod/mini'

/**
 * A check for a schema, with what was expected in words. Zod's own checks are told apart by their codes, and weigh a kilobyte.
 *
 * @example
 * z.string().check(must((id) => id !== '', 'expected an id'))
 */
export const must =
  <T>(holds: (value: T) => boolean, expected: string) =>
  ({ value, issues }: z.core.ParsePayload<T>): void => {
    if (!holds(value)) issues.push({ code: 'custom', message: expected, input: value })
  }
