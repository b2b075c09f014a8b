import { expect, test } from 'vitest'
import { readProjectFile } from '../support/files.ts'

const page = readProjectFile('docs/guarantees.md')
const sections = page.split(/^## /m).slice(1)
const plants = ['simulation/planted.ts', 'simulation/planted-server.ts', 'scenarios/planted.ts']
  .map((file) => readProjectFile(`test/${file}`))
  .join()

/** The tests that a section links to, by title and file. */
const linksOf = (section: string) =>
  [...section.matchAll(/^- \[(.+)\]\(\.\.\/(.+)\)$/gm)].map(([, title = '', file = '']) => ({ title, file }))

const LOOSE = 'random walks, 300 seeds'

test('each of the fourteen guarantees has a section with tests', () => {
  expect(sections.map((section) => /^G\d+/.exec(section)?.[0])).toEqual(
    Array.from({ length: 14 }, (_, at) => `G${at + 1}`),
  )
  expect(sections.filter((section) => linksOf(section).length === 0)).toEqual([])
})

/** What clients, servers and tabs keep to, and where it is tried under that name. */
const RULES: Readonly<Record<string, string>> = {
  'cursor and rows': 'scenarios/10-crash-in-resync.test.ts',
  merge: 'protocol/merge.test.ts',
  order: 'chat/view.test.ts',
  send: 'chat/send.test.ts',
  outbox: 'chat/outbox.test.ts',
  echo: 'scenarios/08-either-order.test.ts',
  silence: 'scenarios/14-17-silence.test.ts',
  'stop is not disconnect': 'scenarios/06-left.test.ts',
  tabs: 'chat/tabs-alone.test.ts',
}

test.each(Object.entries(RULES))('the rule of sync “%s” has tests that bear its name', (rule, file) => {
  expect(readProjectFile(`test/${file}`)).toMatch(new RegExp(`'(\\d+, )?${rule}(: .+)?'`))
})

test('every test that is named is there under that title', () => {
  const missing = sections
    .flatMap(linksOf)
    .filter(({ title, file }) => title !== LOOSE && !readProjectFile(file).includes(`'${title}`))
  expect(missing).toEqual([])
})

test('every fault that is said to be planted is planted', () => {
  const named = [...page.matchAll(/^- planted: (.+)$/gm)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !plants.includes(`'${name}':`))).toEqual([])
})
