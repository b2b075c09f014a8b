import type { Model } from '../../../src/adapters/contract.ts'
import type { Env } from '../../../src/lib/env.ts'
import type { ErrorCode } from '../../../src/lib/error-data.ts'
import { textOf } from '../../../src/message/text.ts'
import { type ScriptPiece, type ScriptStep, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type Chance, createChance } from '../../../src/testing/sim/chance.ts'
import type { Actor } from '../../../src/testing/sim/schedule.ts'
import { type Tool, type ToolOptions, tool } from '../../../src/turn/tool.ts'
import { FAILING } from './plan.ts'
import type { Stored } from './stored.ts'

/** Whoever runs turns: a tab, or a process of the server. */
export interface Player {
  actor: Actor
  env: Pick<Env, 'sleep'>
  chance: Chance
  stored: Stored
  /** Whether it dies in the midst of this execution. */
  dies(): boolean
}

const NAMES = ['again', 'once', 'asks', 'hurry', 'page', 'absent']
const parameters = { type: 'object' }

/** What a tool does: quickly, slowly, or never. */
function workOf(
  { actor, env, chance, stored, dies }: Player,
  name: string,
  begin: Stored['begin'] = stored.begin,
): NonNullable<ToolOptions['execute']> {
  return async (args, { key }) => {
    // Whoever is dead does nothing.
    if (actor.state === 'dead') return new Promise(() => {})
    begin(name, key, args)
    if (dies() || chance.happens(0.15)) return new Promise(() => {})
    await env.sleep(chance.pick([0, 3, 40, 700]))
    return args
  }
}

/** Tools of every temper. What hangs is let go when its time is over. */
export function toolsOf(player: Player): Tool[] {
  const work = (name: string) => ({ name, parameters, timeout: 5_000, execute: workOf(player, name) })
  return [
    tool({ ...work('again'), idempotent: true }),
    tool(work('once')),
    tool({ ...work('asks'), needsApproval: true }),
    tool({ ...work('hurry'), needsApproval: true, approvalTimeout: 3_000 }),
    tool({ name: 'page', parameters }),
  ]
}

/** The tool that is declared and not executed elsewhere, as a page of this device has it. */
export const pageTool = (player: Player, device: string, needsApproval: boolean): Tool =>
  tool({
    ...{ name: 'page', parameters, timeout: 5_000, needsApproval },
    execute: workOf(player, 'page', (_name, key, args) =>
      player.stored.serve(device, key, args, needsApproval),
    ),
  })

/** What a model says: the same to the same question, so that whoever comes after a crash hears the same. */
function stepFor(seed: number, question: string, answered: number): ScriptStep {
  const letters = [...question].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, seed)
  const chance = createChance(letters * 7 + answered)
  const many = answered > 2 ? 0 : chance.int(4)
  if (seed >= FAILING && chance.happens(0.3)) {
    // Not the first thing that is heard: that would be asked for again, for ever.
    const said = chance.pick<ScriptPiece>([
      'Some of it',
      { thinking: 'hm' },
      { toolCall: { name: 'once', arguments: {} } },
    ])
    return [said, { error: chance.pick<ErrorCode>(['network', 'server', 'timeout', 'auth']) }]
  }
  if (many === 0) return 'All of it is done.'
  return Array.from({ length: many }, (_, n) => ({
    toolCall: { name: chance.pick(NAMES), arguments: { question, answered, n } },
  }))
}

export function modelOf({ env, chance, stored }: Player, seed: number): Model {
  const pace = () => env.sleep(chance.int(30))
  return scriptedModel(
    ({ messages }) => {
      stored.ask(messages)
      const from = messages.findLastIndex(({ role }) => role === 'user')
      const answered = messages.slice(from).filter(({ role }) => role === 'assistant').length
      const question = messages[from]
      return stepFor(seed, question ? textOf(question) : '', answered)
    },
    { pace, chunkSize: 12 },
  )
}
