import * as z from 'zod/mini'
import type { Change, ChatStorage } from '../chat/ports.ts'
import { TidemarkError } from '../lib/errors.ts'
import { Fact } from './fact.ts'

/** Facts of one block: so many vectors of 384 numbers are 1.5 MB. A fact that is added writes its block again, not all. */
export const BLOCK = 1_024

/** Facts and their vectors, one behind the other; without an embedder there are none. */
export interface FactBlock {
  readonly id: string
  readonly facts: readonly Fact[]
  /** `facts.length` × `dims` numbers. */
  readonly values: Float32Array
}

/** What there is: read first, and written with every change. */
export interface Head {
  /** Rises with each change. */
  readonly rev: number
  /** Numbers of a vector; 0 where there are none. */
  readonly dims: number
  /** Blocks in their order, each with the revision that changed it last. */
  readonly blocks: readonly { readonly id: string; readonly rev: number }[]
}

export const EMPTY: Head = { rev: 0, dims: 0, blocks: [] }

const StoredHead = z.object({
  rev: z.number(),
  dims: z.number(),
  blocks: z.array(z.object({ id: z.string(), rev: z.number() })),
})

const StoredBlock = z.object({ facts: z.array(Fact), values: z.instanceof(Float32Array) })

type Records = Pick<ChatStorage, 'records' | 'commit'>

/** Each block has a kind of its own: a storage reads records by kind, and all of a memory at once may be 150 MB. */
const kindOf = (name: string, id: string): string => `${name}:${id}`

export async function readHead(storage: Records, name: string): Promise<Head> {
  const [record] = await storage.records(name)
  if (!record) return EMPTY
  const read = StoredHead.safeParse(record.value)
  if (read.success) return read.data
  throw new TidemarkError('storage', `the memory "${name}" cannot be read`)
}

/** A block as it is stored; one that is gone or damaged is empty. */
export async function readBlock(
  storage: Records,
  name: string,
  id: string,
  dims: number,
): Promise<FactBlock> {
  const [record] = await storage.records(kindOf(name, id))
  const { data } = StoredBlock.safeParse(record?.value)
  const whole = data && data.values.length === data.facts.length * dims
  return whole ? { id, ...data } : { id, facts: [], values: new Float32Array() }
}

/** Writes blocks and what there is now, in one transaction. */
export async function writeBlocks(
  storage: Records,
  name: string,
  head: Head,
  { put, gone }: { put: readonly FactBlock[]; gone: readonly string[] },
): Promise<void> {
  const record = (kind: string, value: unknown): Change => ({
    type: 'record',
    record: { kind, key: '', sessionId: null, value },
  })
  await storage.commit([
    ...put.map(({ id, facts, values }) => record(kindOf(name, id), { facts, values })),
    ...gone.map((id): Change => ({ type: 'deleteRecord', kind: kindOf(name, id), key: '' })),
    record(name, head),
  ])
}
