import type { ModelContext } from '../../src/adapters/contract.ts'
import type { Env } from '../../src/lib/env.ts'
import { direct } from '../../src/runtime/direct.ts'
import { type ScriptPiece, scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Actor } from '../../src/testing/sim/schedule.ts'
import { tool } from '../../src/turn/tool.ts'
import type { Planted } from '../simulation/world.ts'
import { directOracle } from './oracle.ts'
import { lifeOf } from './stage.ts'
import type { Story, Telling } from './stories.ts'

/** Milliseconds between two events of the model. */
const PACE = 20

/** A page that asks the model itself and executes tools. Each event of the model and each execution is a point. */
function planted(
  { counter, executed }: Telling,
  say: (context: ModelContext) => ScriptPiece[],
  needsApproval: boolean,
): Planted {
  const envs = new Map<Actor, Env>()
  return {
    env(env, actor) {
      envs.set(actor, env)
      return env
    },
    runtime(_, actor) {
      const life = lifeOf(actor)
      const pace = () => counter.call('an event of the model', life, async () => envs.get(actor)?.sleep(PACE))
      const book = tool({
        name: 'book',
        parameters: { type: 'object' },
        needsApproval,
        execute: (_, { key }) =>
          counter.call('the tool', life, async () => {
            executed.push(key)
            return { booked: true }
          }),
      })
      return direct({ model: scriptedModel(say, { chunkSize: 8, pace }), tools: [book] })
    },
  }
}

/** What makes a story one that is told without a server. */
export const directly = (
  say: (context: ModelContext) => ScriptPiece[],
  needsApproval = false,
): Pick<Story, 'planted' | 'oracle'> => ({
  planted: (telling) => planted(telling, say, needsApproval),
  oracle: directOracle,
})
