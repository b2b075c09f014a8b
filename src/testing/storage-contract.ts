import type { StorageCase, StorageUnderTest, TestTools } from './storage-case.ts'
import { commitCases } from './storage-commit-cases.ts'
import { journalCases } from './storage-journal-cases.ts'
import { lifeCases } from './storage-life-cases.ts'
import { readCases } from './storage-read-cases.ts'

const SECTIONS: readonly (readonly [name: string, cases: readonly StorageCase[]])[] = [
  ['commit', commitCases],
  ['read', readCases],
  ['journal', journalCases],
  ['life', lifeCases],
]

/**
 * The contract of `ChatStorage` as a suite of tests.
 * @param make a storage of its own for each test
 * @param options.durable whether its rows outlive the handle. @default true
 */
export function storageContract(
  name: string,
  make: () => Promise<StorageUnderTest>,
  tools: TestTools,
  { durable = true }: { durable?: boolean } = {},
): void {
  for (const [section, cases] of SECTIONS)
    tools.describe(`${name}: ${section}`, () => {
      for (const { name: sentence, run, durable: needsDurable = false } of cases) {
        if (needsDurable && !durable) continue
        tools.test(sentence, async () => {
          const subject = await make()
          try {
            tools.expect(subject.storage.durable).toEqual(durable)
            await run(subject, tools.expect)
          } finally {
            await subject.destroy()
          }
        })
      }
    })
}
