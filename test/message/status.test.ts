import { describe, expect, test } from 'vitest'
import type { Role, Status } from '../../src/message/schema.ts'
import { can, next, STATUS, type StatusEvent } from '../../src/message/status.ts'

/** Written by hand, cell by cell; `-` is where an event has no effect. */
const TABLE: Readonly<Record<Role, string>> = {
  assistant: `
                start      resume     complete   fail     interrupt    retry
    pending     streaming  -          -          failed   interrupted  -
    streaming   -          -          completed  failed   interrupted  -
    completed   -          -          -          -        -            -
    failed      -          -          -          -        -            -
    interrupted -          streaming  -          -        -            -`,
  user: `
                start      resume     complete   fail     interrupt    retry
    pending     -          -          completed  failed   -            -
    streaming   -          -          -          -        -            -
    completed   -          -          -          -        -            -
    failed      -          -          -          -        -            pending
    interrupted -          -          -          -        -            -`,
  tool: `
                start      resume     complete   fail     interrupt    retry
    pending     -          -          completed  failed   -            -
    streaming   -          -          -          -        -            -
    completed   -          -          -          -        -            -
    failed      -          -          -          -        -            -
    interrupted -          -          -          -        -            -`,
  system: `
                start      resume     complete   fail     interrupt    retry
    pending     -          -          -          -        -            -
    streaming   -          -          -          -        -            -
    completed   -          -          -          -        -            -
    failed      -          -          -          -        -            -
    interrupted -          -          -          -        -            -`,
}

type Cell = readonly [role: Role, status: Status, event: StatusEvent, leadsTo: Status | null]

const isRole = (text: string): text is Role => text in STATUS
const isStatus = (text: string): text is Status => text in STATUS.assistant
const isEvent = (text: string): text is StatusEvent => text in STATUS.assistant.pending

function cellsOf(role: string, table: string): Cell[] {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  return rows.flatMap(([status = '', ...cells]) =>
    cells.map((cell, column): Cell => {
      const event = head[column] ?? ''
      if (!isRole(role) || !isStatus(status) || !isEvent(event)) throw new Error(`${role} ${status} ${event}`)
      if (cell === '-') return [role, status, event, null]
      if (!isStatus(cell)) throw new Error(`no status: ${cell}`)
      return [role, status, event, cell]
    }),
  )
}

const cells = Object.entries(TABLE).flatMap(([role, table]) => cellsOf(role, table))

describe('the status table', () => {
  test('has every cell written out here', () => {
    expect(cells).toHaveLength(4 * 5 * 6)
    expect(new Set(cells.map(([role, status, event]) => `${role} ${status} ${event}`)).size).toBe(
      cells.length,
    )
    for (const table of Object.values(STATUS)) {
      expect(Object.keys(table)).toHaveLength(5)
      for (const row of Object.values(table)) expect(Object.keys(row)).toHaveLength(6)
    }
  })

  test.each(cells)('%s, %s: %s leads to %s', (role, status, event, leadsTo) => {
    expect(next(role, status, event)).toBe(leadsTo)
    expect(can(role, status, event)).toBe(leadsTo !== null)
  })

  test('lets nothing out of an answer that is completed or failed', () => {
    for (const status of ['completed', 'failed'] as const)
      expect(Object.values(STATUS.assistant[status])).toEqual([null, null, null, null, null, null])
  })
})
