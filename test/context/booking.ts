import type { FinishedTask } from '../../src/context/notes.ts'
import type { Message, ToolCallBlock } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'

/** What no summary may touch: nobody can make it again. */
export const CONFIRMATION = 'QX7-PLMR-0429'
export const TASK =
  'Book me a flight from Zurich to Lisbon on 3 May, in the morning, with one bag, for at most 300 euros.'
export const NEW_TASK = 'I changed my mind: no flight any more. Find me a train to Milan on 3 May instead.'
export const HOTEL_LINE = 'hotel search: Casa do Tejo, 3 nights, 412 EUR, reserved until Friday'

/** About what an agent's instructions are long. */
export const SYSTEM = [
  'You book journeys. Use only the tools you have, ask where something is unclear, and never invent prices.',
  ...Array.from(
    { length: 40 },
    (_, at) =>
      `Rule ${at + 1}: before you ${['search', 'book', 'cancel', 'compare'][at % 4]}, check dates, names and the budget.`,
  ),
].join('\n')

const flights = (turn: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    flight: `LX${2000 + turn * 7 + at}`,
    from: 'ZRH',
    to: 'LIS',
    departs: `2026-05-03T${String(6 + (at % 14)).padStart(2, '0')}:15:00+02:00`,
    arrives: `2026-05-03T${String(8 + (at % 14)).padStart(2, '0')}:20:00+01:00`,
    price: { amount: 120 + ((at * 37 + turn * 11) % 400), currency: 'EUR' },
    bags: at % 3,
    seats: [`${at + 1}A`, `${at + 1}C`, `${at + 1}F`],
    terms: 'Changes for 60 EUR until 24 hours before departure; no refund after check-in.',
  }))

const STACK = Array.from(
  { length: 12 },
  (_, at) => `    at Socket.on${at} (/srv/app/node_modules/client/lib/socket.js:${100 + at}:17)`,
).join('\n')

interface Outcome {
  name: string
  args: unknown
  text: string
  isError?: boolean
  pinned?: boolean
}

const ok = (data: unknown): string => JSON.stringify({ ok: true, data })

/** What the tools say in a turn: one call, several at once, some that fail. */
function outcomes(turn: number): Outcome[] {
  const search = {
    name: 'search_flights',
    args: { from: 'ZRH', to: 'LIS', page: turn },
    text: ok(flights(turn, 20)),
  }
  const weather = {
    name: 'get_weather',
    args: { city: 'Lisbon' },
    text: ok({
      city: 'Lisbon',
      days: Array.from({ length: 7 }, (_, day) => ({ day, high: 19 + ((turn + day) % 8), sky: 'clear' })),
    }),
  }
  const failed = {
    name: 'check_calendar',
    args: { day: '2026-05-03' },
    text: JSON.stringify({ ok: false, error: `upstream timed out after 30000 ms\n${STACK}` }),
    isError: true,
  }
  const booked = {
    name: 'book_flight',
    args: { flight: 'LX2086' },
    text: ok({ confirmation: CONFIRMATION, flight: 'LX2086', paid: { amount: 243, currency: 'EUR' } }),
    pinned: true,
  }
  if (turn === 4) return [booked]
  return [[search, weather], [search], [failed, search], [weather, failed, search], []][turn % 5] ?? []
}

export interface Booking {
  messages: Message[]
  /** Where each turn's question stands. */
  questions: number[]
  tasks: FinishedTask[]
  /** From this turn on, the code is known. */
  bookedIn: number
  /** The turn in which the goal changes. */
  changedIn: number
}

/** A conversation of so many turns: parallel calls, failed calls, a booking, a goal that changes half-way, a task that ends. */
export function booking(turns: number): Booking {
  const changedIn = Math.floor(turns / 2)
  const messages: Message[] = [systemMessage('system', SYSTEM)]
  const questions: number[] = []
  for (let turn = 0; turn < turns; turn++) {
    questions.push(messages.length)
    const [text, metadata] =
      turn === 0
        ? [TASK, {}]
        : turn === changedIn
          ? [NEW_TASK, { goal: true }]
          : [`Turn ${turn}: what else is there for the next day?`, {}]
    messages.push(userMessage(`u${turn}`, text, { metadata }))
    const made = outcomes(turn)
    if (made.length > 0) {
      const calls = made.map(
        ({ name, args }, at): ToolCallBlock => ({
          type: 'toolCall',
          id: `c${turn}-${at}`,
          name,
          arguments: args,
        }),
      )
      const content = [{ type: 'text' as const, text: 'Let me look.' }, ...calls]
      messages.push(assistantMessage(`s${turn}`, '', { content, stopReason: 'toolUse' }))
      for (const [at, { name, text: said, isError = false, pinned }] of made.entries())
        messages.push(
          toolMessage(`t${turn}-${at}`, `c${turn}-${at}`, {
            toolName: name,
            content: [{ type: 'text', text: said }],
            isError,
            ...(pinned && { metadata: { pinned } }),
          }),
        )
    }
    messages.push(
      assistantMessage(
        `a${turn}`,
        `I looked at the offers of turn ${turn}: the best one leaves at nine and costs 230 euros with one bag.`,
      ),
    )
  }
  const tasks = turns > 7 ? [{ from: 'u5', to: 'a6', line: HOTEL_LINE }] : []
  return { messages, questions, tasks, bookedIn: 4, changedIn }
}
