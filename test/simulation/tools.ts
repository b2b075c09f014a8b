import { callOf } from '../../src/chat/calls.ts'
import type { ToolMessage } from '../../src/message/schema.ts'
import { pathTo } from '../../src/message/tree.ts'
import { validateConversation } from '../../src/message/validate.ts'
import { messagesOf } from '../../src/protocol/state.ts'
import type { ScriptPiece } from '../../src/testing/scripted-model.ts'
import type { Chance } from '../../src/testing/sim/chance.ts'
import { type Tool, tool } from '../../src/turn/tool.ts'
import type { SessionTruth } from './truth.ts'

/** Is told each time that a tool does what it does: of which call. */
export type OnExecution = (name: string, key: string) => void

const parameters = { type: 'object' }
/** Milliseconds after which nobody is waited for any more. */
const WAITS = 30_000

/** Tools of every temper. */
export function createTools(sleep: (ms: number) => Promise<void>, chance: Chance, on: OnExecution): Tool[] {
  const execute =
    (name: string) =>
    async (_: unknown, { key }: { key: string }) => {
      on(name, key)
      await sleep(chance.int(300))
      return { did: name, key }
    }
  return [
    tool({ name: 'again', parameters, idempotent: true, execute: execute('again') }),
    tool({ name: 'once', parameters, execute: execute('once') }),
    tool({
      name: 'asks',
      parameters,
      needsApproval: true,
      approvalTimeout: WAITS,
      execute: execute('asks'),
    }),
    tool({ name: 'elsewhere', parameters, timeout: WAITS }),
  ]
}

const NAMES = ['again', 'once', 'once', 'asks', 'asks', 'elsewhere', 'absent']

/** Calls of one answer, or none. Their ids come again, as some providers' do. */
export const callsBy = (chance: Chance, isAnswered: boolean): ScriptPiece[] =>
  chance.happens(isAnswered ? 0.2 : 0.5)
    ? Array.from({ length: 1 + chance.int(3) }, (_, n) => ({
        toolCall: { id: `call_${n}`, name: chance.pick(NAMES), arguments: { n } },
      }))
    : []

const toolMessages = ({ state }: SessionTruth): ToolMessage[] =>
  messagesOf(state).filter((message): message is ToolMessage => message.role === 'tool')

/** What is wrong with a tool that does now what it does. */
export function executionProblems(
  truths: readonly SessionTruth[],
  done: Map<string, number>,
  name: string,
  key: string,
): string[] {
  const times = (done.get(key) ?? 0) + 1
  done.set(key, times)
  if (times > 1 && name !== 'again') return [`${name} was executed ${times} times for the call ${key}`]
  const begun = truths
    .flatMap((truth) =>
      toolMessages(truth).map((message) => ({ message, found: callOf(truth.state, message) })),
    )
    .find(({ found }) => found?.key === key)?.message
  if (!begun) return [`${name} is executed for the call ${key}, which nobody wrote down`]
  if (name === 'asks' && !begun.approved && begun.stage !== undefined)
    return [`${name} is executed for the call ${key}, which nobody allowed: ${JSON.stringify(begun)}`]
  return []
}

/** Every call has its one result, on every branch, before its run goes on; only a run that was cut off may leave one without. */
export function pairingProblems(truth: SessionTruth): string[] {
  const all = messagesOf(truth.state)
  const parents = new Set(all.map(({ parentId }) => parentId))
  return all.flatMap((leaf) => {
    if (parents.has(leaf.id)) return []
    const path = pathTo(all, leaf.id)
    return validateConversation(path).errors.flatMap(({ code, path: [at], message }) => {
      const caller = path[Number(at)]
      const runId = caller?.role === 'assistant' ? caller.runId : undefined
      const wentOn = path
        .slice(Number(at) + 1)
        .some((later) => later.role === 'assistant' && later.runId === runId)
      const counts =
        code === 'orphan-result' || code === 'duplicate-result' || (code === 'dangling-call' && wentOn)
      return counts ? [`server: ${truth.id}, the branch to ${leaf.id}: ${message}`] : []
    })
  })
}
