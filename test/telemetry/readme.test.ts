import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { root } from '../../scripts/bootstrap.mjs'
import { bundle } from '../support/measure-bundle.ts'

/** What the example of a section of the README prints. */
async function printed(title: string): Promise<unknown[][]> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, section = ''] = readme.split(`## ${title}\n`)
  const [, snippet = ''] = /```ts\n([\s\S]*?)```/.exec(section) ?? []
  const [file] = await bundle({ entry: snippet })
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  await import(`data:text/javascript,${encodeURIComponent(file?.code ?? '')}`)
  const { calls } = log.mock
  log.mockRestore()
  return calls
}

test('the example of the memory works as printed', async () => {
  const lines = await printed('Memory')
  expect(lines).toEqual([['Her cat is called Mia.', 1]])
})

test('the example of calls works as printed', async () => {
  const [line, last] = await printed('What was called, and what it cost')
  expect(line?.[0]).toMatchObject({ session: 'log', role: 'assistant', status: 'completed' })
  expect(last?.[0]).toMatchObject([{ reason: 'newest' }])
})
