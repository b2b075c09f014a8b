import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { leafOf, pathTo, siblingsOf } from '../../src/message/tree.ts'
import { userMessage } from '../support/messages.ts'

const ids = (messages: readonly Message[]) => messages.map((message) => message.id)

const node = (id: string, parentId: string | null, seq?: number): Message =>
  userMessage(id, id, { parentId, ...(seq !== undefined && { seq }) })

/**
 * a ─ b ─ c
 *   └ d ─ e
 *       └ f (not acknowledged)
 */
const tree = [
  node('a', null, 1),
  node('b', 'a', 2),
  node('c', 'b', 3),
  node('d', 'a', 4),
  node('e', 'd', 5),
  node('f', 'd'),
]
const byId = new Map(tree.map((message) => [message.id, message]))

describe.each([
  ['a list', tree],
  ['a map', byId],
  ['a generator', undefined],
])('in %s', (_, given) => {
  const messages = () => given ?? tree.values()

  test.each([
    ['c', ['a', 'b', 'c']],
    ['f', ['a', 'd', 'f']],
    ['a', ['a']],
    ['z', []],
    [null, []],
  ])('the path to %s is %j', (head, path) => {
    expect(ids(pathTo(messages(), head))).toEqual(path)
  })

  test.each([
    ['b', ['b', 'd']],
    ['e', ['e', 'f']],
    ['a', ['a']],
    ['z', []],
  ])('the siblings of %s are %j', (id, siblings) => {
    expect(ids(siblingsOf(messages(), id))).toEqual(siblings)
  })

  test.each([
    ['a', 'f'],
    ['b', 'c'],
    ['d', 'f'],
    ['e', 'e'],
    ['z', undefined],
  ])('the branch through %s ends in %s', (id, leaf) => {
    expect(leafOf(messages(), id)?.id).toBe(leaf)
  })
})

test('a path begins behind a parent that is not loaded', () => {
  expect(ids(pathTo([node('b', 'a'), node('c', 'b')], 'c'))).toEqual(['b', 'c'])
})

test('the newest is told by seq, not by the order given', () => {
  const messages = [node('new', 'a', 9), node('a', null, 1), node('old', 'a', 2)]
  expect(ids(siblingsOf(messages, 'new'))).toEqual(['old', 'new'])
  expect(leafOf(messages, 'a')?.id).toBe('new')
})

/** Any graph of parents: forests, rings, parents that are absent. */
const graph = fc
  .array(fc.record({ parent: fc.option(fc.nat(14)), seq: fc.option(fc.nat(20), { nil: undefined }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((nodes) =>
    nodes.map(({ parent, seq }, n) => node(`n${n}`, parent === null ? null : `n${parent}`, seq)),
  )

describe('in any graph of parents', () => {
  test('a path ends in its head, each message following its parent, none twice', () => {
    fc.assert(
      fc.property(graph, fc.nat(11), (messages, at) => {
        const path = pathTo(messages, `n${at}`)
        expect(new Set(ids(path)).size).toBe(path.length)
        expect(path.at(-1)?.id).toBe(messages[at]?.id)
        for (const [place, message] of path.entries())
          if (place > 0) expect(message.parentId).toBe(path[place - 1]?.id)
      }),
    )
  })

  test('a leaf is below what it was asked for, and in a tree nothing is below it or newer', () => {
    fc.assert(
      fc.property(graph, fc.nat(11), (messages, at) => {
        const start = messages[at % messages.length]?.id ?? ''
        const leaf = leafOf(messages, start)
        expect(leaf).toBeDefined()
        const path = ids(pathTo(messages, leaf?.id ?? ''))
        expect(path).toContain(start)
        const childless = messages.filter((one) => !messages.some((other) => other.parentId === one.id))
        const below = childless.filter((one) => ids(pathTo(messages, one.id)).includes(start))
        if (below.length > 0) {
          expect(below).toContain(leaf)
          const newest = Math.max(...below.map((one) => one.seq ?? Number.POSITIVE_INFINITY))
          expect(leaf?.seq ?? Number.POSITIVE_INFINITY).toBe(newest)
        } else expect(leaf?.id).toBe(start)
      }),
    )
  })

  test('siblings share a parent, are all there are, and know each other', () => {
    fc.assert(
      fc.property(graph, fc.nat(11), (messages, at) => {
        const own = messages[at % messages.length]
        const siblings = siblingsOf(messages, own?.id ?? '')
        expect(siblings).toContain(own)
        expect(siblings).toHaveLength(messages.filter((one) => one.parentId === own?.parentId).length)
        for (const one of siblings) expect(siblingsOf(messages, one.id)).toEqual(siblings)
      }),
    )
  })
})

test('a chain of 20,000 and a message with 60,000 answers are no burden', () => {
  const chain = Array.from({ length: 20_000 }, (_, n) => node(`n${n}`, n === 0 ? null : `n${n - 1}`, n))
  expect(pathTo(chain, 'n19999')).toHaveLength(20_000)
  expect(leafOf(chain, 'n0')?.id).toBe('n19999')
  const wide = [node('a', null, 0), ...Array.from({ length: 60_000 }, (_, n) => node(`n${n}`, 'a', n + 1))]
  expect(leafOf(wide, 'a')?.id).toBe('n59999')
})
