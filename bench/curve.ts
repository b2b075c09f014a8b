// `npm run curve`: the exercise of the booked flight. Tokens sent at each turn of 10, 50 and 500: everything, a sliding window
// of 5 turns, the recommended mix without and with summaries.
import { booking } from '../test/context/booking.ts'
import { modelCalls, ruleSummariser, type Sender, senders } from '../test/context/curve.ts'

const WINDOW = 32_000

interface Curve {
  name: string
  /** Tokens sent in each turn, all its model calls together. */
  turns: number[]
}

async function curvesOf(count: number): Promise<Curve[]> {
  const journey = booking(count)
  const plain = senders(journey, { window: WINDOW })
  const withSummaries = senders(journey, { window: WINDOW, summarise: ruleSummariser().summarise }).default
  const all: [string, Sender][] = [...Object.entries(plain), ['default, with summaries', withSummaries]]
  const curves = all.map(([name, send]) => ({ name, send, turns: new Array<number>(count).fill(0) }))
  for (const { turn, messages } of modelCalls(journey))
    for (const { send, turns } of curves)
      turns[turn] = (turns[turn] ?? 0) + ((await send(messages)).tokens ?? 0)
  return curves
}

/** The turns that are printed: the first, and then about twelve. */
const shown = (count: number): number[] => [
  ...new Set(Array.from({ length: 12 }, (_, at) => Math.floor((at * (count - 1)) / 11))),
]

const short = (tokens: number): string => tokens.toLocaleString('en').padStart(12)

for (const count of [10, 50, 500]) {
  const curves = await curvesOf(count)
  const [everything] = curves
  console.log(
    `\nTokens sent in a turn, of ${count} (window of the default: ${WINDOW.toLocaleString('en')})\n`,
  )
  console.log(['turn', ...curves.map(({ name }) => name)].map((name) => name.padStart(24)).join(''))
  for (const turn of shown(count))
    console.log(
      [String(turn + 1), ...curves.map(({ turns }) => short(turns[turn] ?? 0))]
        .map((cell) => cell.padStart(24))
        .join(''),
    )
  const totals = curves.map(({ turns }) => turns.reduce((sum, tokens) => sum + tokens, 0))
  console.log(['total', ...totals.map(short)].map((cell) => cell.padStart(24)).join(''))
  const whole = everything?.turns.reduce((sum, tokens) => sum + tokens, 0) ?? 0
  console.log(
    ['of everything', ...totals.map((total) => `${((100 * total) / whole).toFixed(1)} %`)]
      .map((cell) => cell.padStart(24))
      .join(''),
  )
}
