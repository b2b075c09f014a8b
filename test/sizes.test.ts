import { describe, expect, test } from 'vitest'
import { budgets } from './support/budgets.ts'
import { measureBundle, partsOf } from './support/measure-bundle.ts'

describe('what a page pays', () => {
  test.each(budgets)('$what: at most $most bytes', async ({ entry, without, external = [], most }) => {
    const whole = await measureBundle({ entry, external })
    const base = without ? await measureBundle({ entry: without, external }) : { gzip: 0 }
    expect(whole.gzip - base.gzip).toBeGreaterThan(0)
    const tooMuch = whole.gzip - base.gzip > most
    // What to look at first, where it is too much.
    const parts = tooMuch ? await partsOf({ entry, external }) : ''
    expect(whole.gzip - base.gzip, parts).toBeLessThanOrEqual(most)
  })

  test('a bundle has what its entry names, and nothing that it does not', async () => {
    const text = await measureBundle({ entry: "export { textOf } from 'tidemark'" })
    const schema = await measureBundle({ entry: "export { Message } from 'tidemark'" })
    expect(text.gzip).toBeLessThan(500)
    expect(schema.gzip).toBeGreaterThan(3_000)
  })
})
