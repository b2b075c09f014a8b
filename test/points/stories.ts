import type { ModelContext } from '../../src/adapters/contract.ts'
import { textOf } from '../../src/message/text.ts'
import type { ScriptPiece } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import type { Tab } from '../simulation/clients.ts'
import type { Planted } from '../simulation/world.ts'
import type { Counter } from './counter.ts'
import { directly } from './directly.ts'
import type { Oracle } from './oracle.ts'
import { answered, type Stage } from './stage.ts'

/** What one telling has of its own. */
export interface Telling {
  counter: Counter
  /** Keys of the calls that were executed. */
  executed: string[]
}

export interface Story {
  devices?: number
  say?: (context: ModelContext) => ScriptPiece[]
  /** What the story needs besides; made anew for each telling. */
  planted?: (telling: Telling) => Planted
  user?: () => (tab: Tab) => void
  /** @default that of the walk */
  oracle?: () => Oracle
  tell(stage: Stage): Promise<void>
}

const limits = { requests: { max: 1e9, per: 1 }, queue: 100, feeds: 1_000, page: 2 }

/** Says again what it was told. */
export const echo = ({ messages }: ModelContext): ScriptPiece[] => {
  const last = messages.at(-1)
  return [{ text: last ? `re: ${textOf(last)}` : 'nobody spoke' }]
}

const long = (): ScriptPiece[] => [{ text: 'a long answer, of which nobody hears the end ever' }]

/** Calls a tool, and says what came of it. */
const calls = ({ messages }: ModelContext): ScriptPiece[] => {
  const last = messages.at(-1)
  return last?.role === 'tool'
    ? [{ text: `it says ${textOf(last)}` }]
    : [{ toolCall: { name: 'book', arguments: { seat: messages.length } } }]
}

/** A tool that may not be executed twice, and has to be allowed. */
const book = ({ executed }: Telling) =>
  tool({
    name: 'book',
    parameters: { type: 'object' },
    needsApproval: true,
    execute(_, { key }) {
      executed.push(key)
      return { booked: true }
    },
  })

/** Allows whatever waits for it, once on each page. */
function allowing(): (tab: Tab) => void {
  const allowed = new Map<Tab, Set<string>>()
  return (tab) => {
    const [session] = tab.sessions
    for (const { toolCallId } of session?.get().waiting ?? []) {
      const own = allowed.get(tab) ?? new Set()
      allowed.set(tab, own)
      if (own.has(toolCallId)) continue
      own.add(toolCallId)
      session?.approve(toolCallId).catch(() => undefined)
    }
  }
}

/** Asks once, and waits for so many answers. */
const asking =
  (answers: number) =>
  async (stage: Stage): Promise<void> => {
    await stage.ask()
    await stage.until('what came of it', answered(answers))
  }

async function branching(stage: Stage): Promise<void> {
  await stage.ask()
  await stage.until('words', ({ get }) => JSON.stringify(get().messages).includes('a long'))
  await stage.act('stop')
  await stage.until('the end of it', answered(1))
  await stage.act('regenerate', { at: 0 })
  await stage.until('another answer', (session) => {
    const [, answer] = session.get().messages
    return answer !== undefined && session.branches(answer.id).length > 1
  })
  await stage.until('its end', answered(1))
  const [, shown] = stage.session()?.get().messages ?? []
  const [first] = stage.session()?.branches(shown?.id ?? '') ?? []
  // A page that is gone, or loads, has nothing to choose from.
  const chosen = stage.session()?.selectBranch(first ?? '')
  chosen?.catch(() => undefined)
  await stage.until('the first answer', ({ get }) => get().messages[1]?.id === first)
}

/** What is told again and again over a server, each time with a crash in another place. */
export const STORIES: Readonly<Record<string, Story>> = {
  'a question and its answer': { tell: asking(1) },
  'a question without a line, and then with one': {
    async tell(stage) {
      await stage.line(false)
      await stage.ask()
      await stage.pass(1_000)
      await stage.line(true)
      await stage.until('an answer', answered(1))
    },
  },
  'a gap of several pages': {
    devices: 2,
    planted: () => ({ handler: { limits, keepEvents: 4 } }),
    async tell(stage) {
      await stage.ask()
      await stage.until('an answer', answered(1))
      const other = { device: 1 }
      // It may have asked before the server knew the session: somebody looks again.
      await stage.act('hide', { ...other, at: 1 })
      await stage.act('hide', { ...other, at: 0 })
      await stage.until('the same elsewhere', ({ get }) => get().messages.length === 2, other)
      await stage.line(false)
      for (let count = 2; count <= 3; count++) {
        await stage.ask(other)
        await stage.until('an answer elsewhere', answered(count), other)
      }
      await stage.line(true)
      await stage.until('all of it', answered(3))
    },
  },
  'an answer that is stopped, another one, and back': { say: long, tell: branching },
  'a tool that has to be allowed': {
    say: calls,
    planted: (telling) => ({ handler: { tools: [book(telling)] } }),
    user: allowing,
    tell: asking(2),
  },
  'two tabs, of which the second asks': {
    async tell(stage) {
      await stage.act('open')
      const second = { tab: 1 }
      await stage.until('a second page', ({ get }) => get().status !== 'loading', second)
      await stage.ask(second)
      await stage.until('an answer in the first', answered(1))
      await stage.until('and in the second', answered(1), second)
    },
  },
}

/** The same where the page itself asks the model. */
export const DIRECT: Readonly<Record<string, Story>> = {
  'a question and its answer': { ...directly(echo), tell: asking(1) },
  'an answer that is stopped, another one, and back': { ...directly(long), tell: branching },
  'a tool': { ...directly(calls), tell: asking(2) },
  'a tool that has to be allowed': { ...directly(calls, true), user: allowing, tell: asking(2) },
}
