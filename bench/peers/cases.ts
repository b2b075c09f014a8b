import { type ContextSizes, contextCases } from '../context.ts'
import { type JsonSizes, jsonCases } from '../json.ts'
import { type Case, type MeasureOptions, measure, type Result } from '../measure.ts'
import { type MemorySizes, memoryCases } from '../memory.ts'
import { type SseSizes, sseCases } from '../sse.ts'
import { type StoreSizes, storeCases } from '../store.ts'
import { type TokenSizes, tokenCases } from '../tokens.ts'
import { ssePeers } from './sse.ts'
import { storePeers } from './store.ts'
import { tokenPeers } from './tokens.ts'

export interface Sizes {
  sse: SseSizes
  store: StoreSizes
  json: JsonSizes
  context: ContextSizes
  memory: MemorySizes
  tokens: TokenSizes
}

const casesOf = ({ sse, store, json, memory, context, tokens }: Sizes): Case[] => [
  ...sseCases(sse, ssePeers),
  ...storeCases(store, storePeers),
  ...jsonCases(json),
  ...contextCases(context),
  ...memoryCases(memory),
  ...tokenCases(tokens, tokenPeers),
]

export const caseNames = (sizes: Sizes): string[] => casesOf(sizes).map(({ name }) => name)

/** Measures one case. This is what runs in Node and in the browser, from the same bundle. */
export async function runCase(
  name: string,
  sizes: Sizes,
  options: Pick<MeasureOptions, 'rounds' | 'warmUp'>,
): Promise<Result> {
  const found = casesOf(sizes).find((one) => one.name === name)
  if (!found) throw new Error(`there is no case named ${name}`)
  return await measure(found, options)
}
