import { createChat, memoryStorage, remote, textOf } from 'tidemark'
import { describe, expect, test, vi } from 'vitest'
import { type Figure, isWithin, measured, measureRow } from '../../bench/live/figures.ts'
import { openWire, runOf, SESSION_ID } from '../../bench/live/wire.ts'
import { countHeld, figuresTable } from '../../bench/print.ts'

const figure: Figure = {
  row: 'kill',
  name: 'text lost',
  unit: 'ms',
  samples: [90, 100, 170],
  most: 150,
  by: 'median',
}

describe('what is measured in a browser of its own', () => {
  test('is held by the middle of its samples, or by the worst, as the promise says', () => {
    expect(isWithin(figure)).toBe(true)
    expect(isWithin({ ...figure, by: 'worst' })).toBe(false)
    expect(measured({ ...figure, by: 'worst' })).toBe(170)
  })

  test('is not held where nothing was measured', () => {
    expect(isWithin({ ...figure, samples: [] })).toBe(false)
  })

  test('is printed with its bound and whether that is held', () => {
    const [, , row] = figuresTable([figure]).split('\n')
    expect(row).toMatch(/kill \| text lost +\| \*\*100\*\* +\| 170 +\| ms \| ≤ 150 \| held/)
    expect(figuresTable([{ ...figure, by: 'worst' }])).toMatch(
      /\| 100 +\| \*\*170\*\* \| ms \| ≤ 150 \| NOT HELD/,
    )
    expect(countHeld([], [], [figure, { ...figure, by: 'worst' }])).toEqual({ held: 1, all: 2 })
  })

  test('does not end the bench where it breaks off', async () => {
    const measure = () => Promise.reject(new Error('the browser ended\nat line 1'))
    const [broken] = await measureRow({ name: 'kill', measure }, undefined)
    expect(broken).toMatchObject({ row: 'kill', name: 'failed: Error: the browser ended', samples: [] })
    expect(broken && isWithin(broken)).toBe(false)
  })
})

test('the server in the page tells a run live, and again to whom it was lost', async () => {
  const wire = openWire()
  const runtime = remote({ url: 'http://live.invalid', fetch: wire.fetch })
  const chat = createChat({ storage: memoryStorage(), runtime })
  const session = chat.session(SESSION_ID)
  const run = runOf(0)
  const answer = () => session.get().messages.at(-1)
  wire.say([...run.begin(), run.delta('One, ')])
  await vi.waitFor(() => expect(answer()).toMatchObject({ id: run.id, status: 'streaming' }))
  wire.down()
  wire.say([run.delta('two, '), run.delta('three.'), ...run.end()])
  wire.up()
  await vi.waitFor(() => expect(answer()?.status).toBe('completed'))
  const last = answer()
  expect(last && textOf(last)).toBe('One, two, three.')
  await chat.close()
})
