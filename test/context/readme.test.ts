import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { root } from '../../scripts/bootstrap.mjs'
import { bundle } from '../support/measure-bundle.ts'

test('the example of what the model sees works as printed', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, section = ''] = readme.split('## What the model sees')
  const [, snippet = ''] = /```ts\n([\s\S]*?)```/.exec(section) ?? []
  const [file] = await bundle({ entry: snippet })
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  await import(`data:text/javascript,${encodeURIComponent(file?.code ?? '')}`)
  const printed = log.mock.calls
  log.mockRestore()
  expect(printed[0]?.[0]).toMatchObject({
    content: [{ text: expect.stringMatching(/^Lisbon on 3 May, for \[email-\d+\]$/) }],
  })
  const [tokens, sections, included, dropped] = printed[1] ?? []
  expect(tokens).toBeGreaterThan(20)
  expect(Object.keys(sections)).toEqual(['system', 'newest'])
  expect(included).toHaveLength(2)
  expect(dropped).toEqual([])
})
