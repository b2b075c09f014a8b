import type { ChatStorage } from '../chat/ports.ts'
import { TidemarkError } from '../lib/errors.ts'

/** What the suite needs of a test framework; vitest and jest have it. */
export interface TestTools {
  describe(name: string, body: () => void): void
  test(name: string, body: () => Promise<void>): void
  expect(actual: unknown): { toEqual(expected: unknown): void }
}

export interface StorageUnderTest {
  /** Empty at first. */
  storage: ChatStorage
  /** Another handle on the same rows; the same one where there can be but one. */
  reopen(): Promise<ChatStorage>
  /** Closes all handles and takes the rows away. */
  destroy(): Promise<void>
}

/** One promise of a storage, as a sentence and its proof. */
export interface StorageCase {
  name: string
  /** Only for storages whose rows outlive a handle. */
  durable?: boolean
  run(subject: StorageUnderTest, expect: TestTools['expect']): Promise<void>
}

/** How a call ends: `done`, or the code of its error. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'done'
  } catch (thrown) {
    return thrown instanceof TidemarkError ? thrown.code : `not a TidemarkError: ${thrown}`
  }
}
