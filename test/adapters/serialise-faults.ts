import { expect, test } from 'vitest'
import { type Fault, faults } from './fixtures.ts'

/** The faults that were reported of requests to these targets, and those named besides. */
export const serialiseFaults = (
  isTarget: (target: string) => boolean,
  also: readonly string[] = [],
): readonly Fault[] =>
  faults().filter(
    ({ id, direction, input }) =>
      direction === 'serialise' && (also.includes(id) || isTarget(input.target ?? '')),
  )

/** Tries each fault by its rule, which `check` is to look up. */
export function testFaults(
  ours: readonly Fault[],
  rules: Readonly<Record<string, unknown>>,
  check: (fault: Fault) => unknown,
): void {
  test('every fault has a rule, and every rule a fault', () => {
    expect(ours.map(({ id }) => id).sort()).toEqual(Object.keys(rules).sort())
  })

  test.each(ours.map((fault) => [fault.id, fault.symptom, fault] as const))(
    '%s: %s',
    async (_id, _symptom, fault) => {
      await check(fault)
    },
  )
}
