import { useEffect, useRef } from 'react'
import type { CallRecord } from 'tidemark'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { tokens } from './words.ts'

/** Tokens of the request as the provider counted them. */
export const actualOf = ({ usage }: CallRecord): number | undefined =>
  usage && usage.input + usage.cacheRead + usage.cacheWrite

const HEIGHT = 150

function optionsFor(width: number): UPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color('--ink-soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    scales: {
      x: { time: false, range: (_, min, max) => [min - 0.5, max + 0.5] },
      y: { range: (_, __, max) => [0, Math.max(10, (max ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, size: 24, incrs: [1, 2, 5, 10, 20, 50, 100] },
      { ...axis, size: 46 },
    ],
    series: [
      {},
      {
        stroke: color('--line-strong'),
        width: 2,
        dash: [4, 4],
        points: { show: true, size: 5, fill: color('--sand') },
      },
      { stroke: color('--tide'), width: 2, points: { show: true, size: 6, fill: color('--tide') } },
    ],
  }
}

/** Tokens sent over the calls of a session: as estimated, and as the provider counted them. */
export function Curve({ calls }: { calls: readonly CallRecord[] }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element || calls.length === 0) return
    const data: UPlot.AlignedData = [
      calls.map((_, at) => at + 1),
      calls.map(({ sent }) => sent?.estimated ?? null),
      calls.map((call) => actualOf(call) ?? null),
    ]
    let plot: UPlot | undefined
    const draw = () => {
      plot?.destroy()
      plot = new UPlot(optionsFor(element.clientWidth), data, element)
    }
    const resized = new ResizeObserver(draw)
    resized.observe(element)
    // Its colours are drawn, not styled: another theme is another drawing.
    const themed = new MutationObserver(draw)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      themed.disconnect()
      plot?.destroy()
    }
  }, [calls])
  const counts = calls.flatMap((call) => actualOf(call) ?? call.sent?.estimated ?? [])
  const summary =
    counts.length === 0
      ? 'No call has been counted yet'
      : `Tokens sent over ${calls.length} call${calls.length === 1 ? '' : 's'}: ${tokens(counts[0])} at first, ${tokens(counts.at(-1))} now, ${tokens(Math.max(...counts))} at most`
  return (
    <figure className="curve">
      <div ref={place} role="img" aria-label={summary} style={{ minHeight: HEIGHT }} />
      <figcaption>
        <span className="key" data-series="actual">
          counted
        </span>
        <span className="key" data-series="estimated">
          estimated
        </span>
        <span>tokens sent, by call</span>
      </figcaption>
    </figure>
  )
}
