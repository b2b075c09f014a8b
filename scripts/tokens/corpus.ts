// Text with exact counts, read in place: `<root>/train/*.jsonl.gz` to fit on, `<root>/dev` with `truth.json` to judge by.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import * as z from 'zod/mini'
import { root as project } from '../bootstrap.mjs'

export const corpusRoot = join(project, '../shared/fixtures/tokens')

/** Whether it is there. */
export const hasCorpus = existsSync(corpusRoot)

/** The families in the order of the corpus; a ninth, llama2, stands for a tokenizer that nobody knows. */
export const FAMILIES = 8

export interface Sample {
  category: string
  text: string
  /** Exact tokens by family, in the corpus's order. */
  counts: readonly number[]
  long: boolean
}

const Line = z.object({ t: z.string(), n: z.array(z.number()) })
const Truth = z.object({
  families: z.array(z.string()),
  samples: z.array(
    z.object({ category: z.string(), file: z.string(), tokens: z.record(z.string(), z.number()) }),
  ),
})

function read(path: string): Buffer {
  if (!hasCorpus)
    throw new Error('the corpus is missing: expected it in ../shared/fixtures/tokens beside the project')
  return readFileSync(join(corpusRoot, path))
}

/** Chunks to fit on, by category. */
export function* trainingChunks(): Generator<Sample> {
  for (const file of readdirSync(join(corpusRoot, 'train')).sort()) {
    for (const line of gunzipSync(read(`train/${file}`))
      .toString()
      .trim()
      .split('\n')) {
      const { t, n } = Line.parse(JSON.parse(line))
      yield { category: file.replace('.jsonl.gz', ''), text: t, counts: n, long: false }
    }
  }
}

/** Samples to judge by. `every` takes only each nth, for a test in a hurry. */
export function devSamples(every = 1): Sample[] {
  const { families, samples } = Truth.parse(JSON.parse(read('truth.json').toString()))
  return samples
    .filter((_, at) => at % every === 0)
    .map(({ category, file, tokens }) => ({
      category,
      text: read(`dev/${category}/${file}`).toString(),
      counts: families.map((family) => tokens[family] ?? Number.NaN),
      long: file.startsWith('long'),
    }))
}
