import { type Figure, isWithin, worstOf } from './live/figures.ts'
import { isHeld, type Result, type Spread, spreadOf } from './measure.ts'
import type { Size } from './sizes.ts'

/** Rows as a table with columns as wide as they need to be. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join(
    '\n',
  )
}

/** Three figures are more than a measurement has to say. */
const short = (figure: number): string =>
  figure >= 100 ? figure.toFixed(0) : figure.toFixed(figure >= 10 ? 1 : 2)

const spread = ({ median, low, high }: Spread): string => `${short(median)} (${short(low)}–${short(high)})`

const duration = ({ median }: Spread): string =>
  median >= 1e6
    ? `${short(median / 1e6)} ms`
    : median >= 1e3
      ? `${short(median / 1e3)} µs`
      : `${short(median)} ns`

const bound = ({ most, least }: { most?: number; least?: number }): string =>
  most !== undefined ? `≤ ${most}` : least !== undefined ? `≥ ${least}` : ''

const verdict = (held: boolean | undefined): string => (held === undefined ? '' : held ? 'held' : 'NOT HELD')

/** How one case came out in each engine: a column each. */
export interface CaseRow {
  name: string
  results: readonly Result[]
}

/** What each contestant took, in each engine. */
export function timesTable(engines: readonly string[], cases: readonly CaseRow[]): string {
  const rows = cases.flatMap(({ name, results }) => {
    const [first] = results
    return (first?.times ?? []).map((time, at) => [
      name,
      `${time.name}, per ${first?.unit ?? ''}`,
      ...results.map(({ times }) => {
        const own = times[at]
        return own ? duration(own) : ''
      }),
    ])
  })
  return table(['case', 'who', ...engines], rows)
}

/** The ratios, with the quartiles round by round, and whether their bounds are held. */
export function ratiosTable(engines: readonly string[], cases: readonly CaseRow[]): string {
  const rows = cases.flatMap(({ name, results }) =>
    (results[0]?.ratios ?? []).map((claim, at) => [
      name,
      `${claim.of} ÷ ${claim.to}`,
      bound(claim),
      ...results.flatMap(({ ratios }) => {
        const own = ratios[at]
        return own ? [spread(own), verdict(isHeld(own))] : ['', '']
      }),
    ]),
  )
  return table(['case', 'ratio', 'bound', ...engines.flatMap((engine) => [engine, ''])], rows)
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`

/** What a page pays for each bundle, and for each peer's in ours. */
export function sizesTable(ours: readonly Size[], peers: readonly Size[]): string {
  const own = ours.map(({ what, gzip, bytes, most = 0 }) => [
    what,
    kilobytes(gzip),
    kilobytes(bytes),
    `≤ ${kilobytes(most)}`,
    verdict(gzip <= most),
  ])
  const [core] = ours
  const others = peers.map(({ what, gzip, bytes }) => [
    what,
    kilobytes(gzip),
    kilobytes(bytes),
    '',
    core ? `${short(gzip / core.gzip)} × the first row` : '',
  ])
  return table(['bundle', 'min + gzip', 'min', 'bound', ''], [...own, ...others])
}

/** What was measured in a browser of its own: the middle and the worst of the samples; the one the bound is about is marked. */
export function figuresTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { row, name, unit, samples, most, by } = figure
    const shown = (of: Figure['by'], value: number) => (by === of ? `**${short(value)}**` : short(value))
    const values =
      samples.length > 0
        ? [shown('median', spreadOf(samples).median), shown('worst', worstOf(figure))]
        : ['', '']
    return [row, name, ...values, unit, most === undefined ? '' : `≤ ${most}`, verdict(isWithin(figure))]
  })
  return table(['row', 'what', 'median', 'worst', '', 'bound', ''], rows)
}

/** Bounds that are held, of all that were measured. */
export function countHeld(
  cases: readonly CaseRow[],
  sizes: readonly Size[],
  figures: readonly Figure[] = [],
): { held: number; all: number } {
  const verdicts = [
    ...figures.map(isWithin),
    ...cases.flatMap(({ results }) => results.flatMap(({ ratios }) => ratios.map(isHeld))),
    ...sizes.map(({ gzip, most }) => (most === undefined ? undefined : gzip <= most)),
  ].filter((one) => one !== undefined)
  return { held: verdicts.filter((one) => one).length, all: verdicts.length }
}
