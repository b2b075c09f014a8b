import { describe, expect, test } from 'vitest'
import { createCell } from '../../src/lib/cell.ts'

describe('a cell', () => {
  test('holds what was set last', () => {
    const cell = createCell(1)
    expect(cell.get()).toBe(1)
    cell.set(2)
    expect(cell.get()).toBe(2)
  })

  test('tells its listeners of each change, and none of a value it holds already', () => {
    const cell = createCell<unknown>(Number.NaN)
    const seen: unknown[] = []
    cell.subscribe(() => seen.push(cell.get()))
    for (const value of [Number.NaN, 1, 1, '1', undefined, undefined]) cell.set(value)
    expect(seen).toEqual([1, '1', undefined])
  })

  test('tells each subscription, also two of the same function, until it is ended', () => {
    const cell = createCell(0)
    let calls = 0
    const listener = () => calls++
    const end = cell.subscribe(listener)
    cell.subscribe(listener)
    cell.set(1)
    expect(calls).toBe(2)
    end()
    end()
    cell.set(2)
    expect(calls).toBe(3)
  })
})

describe('while listeners are told', () => {
  test('one that ends its own subscription keeps nobody else from hearing', () => {
    const cell = createCell(0)
    const heard: string[] = []
    const end = cell.subscribe(() => {
      heard.push('first')
      end()
    })
    cell.subscribe(() => heard.push('second'))
    cell.subscribe(() => heard.push('third'))
    cell.set(1)
    cell.set(2)
    expect(heard).toEqual(['first', 'second', 'third', 'second', 'third'])
  })

  test('one whose subscription was just ended is not told any more', () => {
    const cell = createCell(0)
    const heard: string[] = []
    const ends: (() => void)[] = []
    cell.subscribe(() => {
      heard.push('first')
      for (const end of ends) end()
    })
    ends.push(cell.subscribe(() => heard.push('second')))
    cell.subscribe(() => heard.push('third'))
    cell.set(1)
    expect(heard).toEqual(['first', 'third'])
  })

  test('one that comes now hears of the next change', () => {
    const cell = createCell(0)
    const heard: number[] = []
    const end = cell.subscribe(() => {
      end()
      cell.subscribe(() => heard.push(cell.get()))
    })
    cell.set(1)
    expect(heard).toEqual([])
    cell.set(2)
    expect(heard).toEqual([2])
  })

  test('one that sets the value again leaves everybody with the last one', () => {
    const cell = createCell(0)
    const seen: number[] = []
    cell.subscribe(() => {
      if (cell.get() < 3) cell.set(cell.get() + 1)
    })
    cell.subscribe(() => seen.push(cell.get()))
    cell.set(1)
    expect(cell.get()).toBe(3)
    expect(seen.at(-1)).toBe(3)
  })

  test('one that throws keeps nobody else from hearing, and its error reaches who set the value', () => {
    const cell = createCell(0)
    const broken = new Error('broken')
    const seen: number[] = []
    cell.subscribe(() => seen.push(cell.get()))
    cell.subscribe(() => {
      throw broken
    })
    cell.subscribe(() => seen.push(cell.get()))
    expect(() => cell.set(1)).toThrow(broken)
    expect(seen).toEqual([1, 1])
    expect(cell.get()).toBe(1)
  })

  test('the errors of several reach who set the value together', () => {
    const cell = createCell(0)
    for (const words of ['one', 'two'])
      cell.subscribe(() => {
        throw new Error(words)
      })
    let thrown: unknown
    try {
      cell.set(1)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(AggregateError)
    expect(thrown instanceof AggregateError && thrown.errors.map(({ message }) => message)).toEqual([
      'one',
      'two',
    ])
  })
})
