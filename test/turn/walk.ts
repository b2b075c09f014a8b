import type { ChatSession } from '../../src/chat/types.ts'
import { isSettled, type Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { validateConversation } from '../../src/message/validate.ts'
import { createChance } from '../../src/testing/sim/chance.ts'
import { type Tool, tool } from '../../src/turn/tool.ts'
import {
  type Call,
  calling,
  callsIn,
  type Planted,
  type Scene,
  type SceneOptions,
  type Spy,
} from './scenes.ts'

const parameters = { type: 'object' }

/** Tools of every temper. What hangs is let go when its time is over. */
const tools = (spy: Spy, hangs: () => boolean): Tool[] => {
  const work = (args: unknown) => (hangs() ? new Promise(() => {}) : args)
  const timeout = 5_000
  return [
    tool({ name: 'again', parameters, timeout, idempotent: true, execute: spy('again', work) }),
    tool({ name: 'once', parameters, timeout, execute: spy('once', work) }),
    tool({ name: 'asks', parameters, timeout, needsApproval: true, execute: spy('asks', work) }),
    tool({ name: 'hurry', parameters, needsApproval: true, approvalTimeout: 3_000, execute: spy('hurry') }),
    tool({ name: 'page', parameters }),
  ]
}
const NAMES = ['again', 'once', 'asks', 'hurry', 'page', 'absent']

type Chance = ReturnType<typeof createChance>

/** What a model says: the same to the same question, so that whoever comes after a crash hears the same. */
function stepFor(seed: number, question: string, answered: number) {
  const letters = [...question].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, seed)
  const chance = createChance(letters * 7 + answered)
  const many = answered > 2 ? 0 : chance.int(4)
  const calls = Array.from({ length: many }, (_, n): Call => [chance.pick(NAMES), { question, answered, n }])
  return calls.length > 0 ? calling(...calls) : 'Done.'
}

/** Nobody minds that there is nothing to do it to. */
const leniently = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined)

const waitingIn = (session: ChatSession) => session.get().waiting

async function decide(session: ChatSession, chance: Chance, allowed: Set<string>): Promise<void> {
  const waiting = waitingIn(session)
  if (waiting.length === 0) return
  const { id, stage } = chance.pick(waiting)
  const word = chance.pick(['yes', 'no', 'other'])
  if (word === 'no') await leniently(session.reject(id, 'no'))
  else if (stage === 'client') await leniently(session.toolResult(id, { data: word }))
  else {
    allowed.add(id)
    await leniently(session.approve(id, word === 'other' ? { arguments: { word } } : {}))
  }
}

/** @param allowed ids of the calls that somebody allowed */
type Action = (scene: Scene, others: ChatSession[], chance: Chance, allowed: Set<string>) => Promise<unknown>

const ACTIONS: readonly Action[] = [
  ({ session }, _, chance, allowed) => decide(session, chance, allowed),
  ({ session }, others, chance, allowed) =>
    decide(others.length > 0 ? chance.pick(others) : session, chance, allowed),
  ({ session }, _, chance) => leniently(session.send(`question ${chance.int(1_000)}`)),
  ({ session }) => leniently(session.stop()),
  ({ session }, _, chance) => {
    const asked = session.get().messages.filter(({ role }) => role === 'user')
    if (asked.length === 0) return Promise.resolve()
    return leniently(session.edit(chance.pick(asked).id, `edited ${chance.int(1_000)}`))
  },
  ({ session }) => {
    const answer = session.get().messages.findLast(({ role }) => role === 'assistant')
    return answer ? leniently(session.regenerate(answer.id)) : Promise.resolve()
  },
  (scene, others) => {
    others.length = 0
    return scene.reload()
  },
  (scene, others) => {
    others.length = 0
    return scene.crash()
  },
  async (scene, others) => {
    if (others.length < 1) others.push(scene.other())
  },
  (scene, _, chance) => scene.pass(chance.pick([1, 50, 500, 4_000])),
]

/** Ends all that waits, until nothing does. */
async function settle(scene: Scene): Promise<boolean> {
  for (let round = 0; round < 30; round++) {
    const asked = new Set(waitingIn(scene.session).map(({ id }) => id))
    for (const id of asked) await leniently(scene.session.reject(id))
    // Said here, heard by whichever page leads.
    await leniently(scene.until(() => !waitingIn(scene.session).some(({ id }) => asked.has(id))))
    const isOver = () => {
      const { status, messages } = scene.session.get()
      return status === 'ready' && messages.every(isSettled)
    }
    await leniently(scene.until(() => isOver() || waitingIn(scene.session).length > 0))
    if (isOver()) return true
  }
  return false
}

const shown = (session: ChatSession, newest = 1_000): string =>
  JSON.stringify(
    session
      .get()
      .messages.slice(-newest)
      .map((message: Message) => [message.id, message.status, message.content]),
  )

/** What is said of a call that was certainly not executed. */
const NOT_EXECUTED = /did not allow this call|tool was not executed|before the tool was executed/

/** Calls of an answer are answered in their order, and truthfully. */
function* problemsOfResults(messages: readonly Message[], executed: ReadonlySet<string>): Generator<string> {
  for (const [at, answer] of messages.entries()) {
    if (answer.role !== 'assistant') continue
    const calls = answer.content.flatMap((block, index) =>
      block.type === 'toolCall' ? [[block, index] as const] : [],
    )
    for (const [n, [{ id, name }, index]] of calls.entries()) {
      const result = messages[at + 1 + n]
      if (result?.role !== 'tool' || result.toolCallId !== id) {
        yield `call ${n} of ${answer.id} is not answered in its place`
        continue
      }
      const isExecuted = executed.has(`${name} ${answer.id}_${index}`)
      if (isExecuted && NOT_EXECUTED.test(textOf(result)))
        yield `${name} was executed, and says: ${textOf(result)}`
    }
  }
}

function* problemsOf(scene: Scene, allowed: ReadonlySet<string>): Generator<string> {
  const { messages } = scene.session.get()
  for (const { code, message } of validateConversation(messages).errors)
    if (code !== 'consecutive-users') yield `${code}: ${message}`
  const counts = new Map<string, number>()
  for (const key of scene.keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const [key, times] of counts)
    if (times > 1 && !key.startsWith('again ')) yield `${key} was executed ${times} times`
  const asking = [...counts.keys()].filter((key) => /^(asks|hurry) /.test(key))
  if (asking.length > allowed.size)
    yield `${asking.length} calls were executed that have to be allowed, ${allowed.size} were`
  for (const key of scene.early) yield `${key} was executed before anything of it was stored`
  yield* problemsOfResults(messages, new Set(counts.keys()))
  for (const { toolName, content, details } of callsIn(scene.session)) {
    const said = content[0]?.type === 'text' ? content[0].text : ''
    if (details !== undefined) yield `${toolName} has details`
    if (!said.startsWith('{"ok":')) yield `${toolName} says ${said}`
  }
}

/** One walk by its seed: what went wrong. */
export async function walk(
  seed: number,
  open: (options: SceneOptions) => Scene,
  planted?: Planted,
): Promise<string[]> {
  const chance = createChance(seed)
  const scene = open({
    steps: (question, answered) => stepFor(seed, question, answered),
    tools: (spy) => tools(spy, () => chance.happens(0.3)),
    ...(planted && { planted }),
  })
  const others: ChatSession[] = []
  const allowed = new Set<string>()
  await leniently(scene.session.send('question 0'))
  const steps = 4 + chance.int(12)
  for (let step = 0; step < steps; step++) {
    await chance.pick(ACTIONS)(scene, others, chance, allowed)
    if (chance.happens(0.6)) await scene.pass(chance.pick([1, 20, 200]))
  }
  if (!(await settle(scene)))
    return [`it does not come to rest: ${shown(scene.session)}`, ...problemsOf(scene, allowed)]
  const other = scene.other()
  await scene.pass(2_000)
  const problems = [...problemsOf(scene, allowed)]
  // A page that opens reads the newest messages only.
  const seen = other.get().messages.length
  if (shown(other) !== shown(scene.session, seen)) problems.push('two pages show different things')
  return problems
}
