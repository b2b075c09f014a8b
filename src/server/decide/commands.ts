import { TidemarkError } from '../../lib/errors.ts'
import { besides } from '../../message/besides.ts'
import { isCutOff } from '../../message/schema.ts'
import type { CallCommand, Command } from '../../protocol/commands.ts'
import type { EventId } from '../../protocol/events.ts'
import type { Decision, Needs, View } from '../ports.ts'
import { decideCall } from './calls.ts'
import {
  type Draft,
  decided,
  liveSession,
  messageIn,
  moveHead,
  notInSession,
  openDraft,
  putRun,
  runIn,
  type Terms,
} from './draft.ts'
import { endRun } from './record.ts'
import { beginNext, goOn } from './runs.ts'
import {
  type Accepted,
  type Asked,
  addUserMessage,
  assertFree,
  bind,
  enqueue,
  leafBelow,
  repeated,
} from './send.ts'

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>

/** What a command did: the message and run it made, and runs it ended. */
interface Done {
  messageId?: string
  runId?: string
  ended?: readonly string[]
}

interface CommandKind<T extends Command['type']> {
  needs(command: CommandOf<T>): Needs
  apply(draft: Draft, command: CommandOf<T>, asked: Asked): Done
}

/** Ends a run wherever it is produced: its lease is void from here. */
function cancel(draft: Draft, { runId }: CommandOf<'cancel'>): Done {
  const run = runIn(draft, runId)
  if (draft.view.taken.has(runId)) throw notInSession('runId', runId)
  if (run && run.state !== 'finished') {
    endRun(draft, run, 'interrupted')
    return { runId, ended: [runId] }
  }
  if (!run) {
    putRun(draft, {
      id: runId,
      sessionId: draft.session.session.id,
      kind: 'tombstone',
      state: 'finished',
      place: 0,
      answers: null,
      messages: [],
      epoch: 0,
      leaseUntil: 0,
      outcome: 'interrupted',
      ended: null,
    })
  }
  return { runId }
}

function regenerate(draft: Draft, { messageId, runId }: CommandOf<'regenerate'>, asked: Asked): Done {
  if (draft.view.path.length === 0) throw notInSession('messageId', messageId)
  const question = draft.view.path.findLast(({ role }) => role === 'user')
  if (!question) {
    throw new TidemarkError('invalid-request', `messageId: no user message comes before ${messageId}`)
  }
  enqueue(draft, { id: runId, kind: 'regenerate', answers: question.id }, asked.queue)
  return { runId }
}

function goOnFrom(draft: Draft, { messageId, runId }: CommandOf<'continue'>, asked: Asked): Done {
  const cut = messageIn(draft, messageId)?.message
  if (!cut) throw notInSession('messageId', messageId)
  if (!isCutOff(cut))
    throw new TidemarkError('invalid-request', `messageId: ${messageId} is not an answer that was cut off`)
  enqueue(draft, { id: runId, kind: 'continue', answers: messageId }, asked.queue)
  return { runId }
}

function edit(draft: Draft, command: CommandOf<'edit'>, asked: Asked): Done {
  const { messageId, newId, runId, content } = command
  const old = messageIn(draft, messageId)?.message
  if (!old) throw notInSession('messageId', messageId)
  if (old.role !== 'user') {
    throw new TidemarkError('invalid-request', `messageId: ${messageId} is not a user message`)
  }
  assertFree(draft.view, newId, 'newId')
  addUserMessage(draft, { id: newId, parentId: old.parentId, content, ...besides(old) }, runId)
  enqueue(draft, { id: runId, kind: 'send', answers: newId }, asked.queue)
  return { messageId: newId, runId }
}

function selectBranch(draft: Draft, { messageId }: CommandOf<'selectBranch'>): Done {
  const { below } = draft.view
  if (below.length === 0) throw notInSession('messageId', messageId)
  // Shown already: whoever looks at one of several branches below stays there.
  if (below.some(({ id }) => id === draft.session.session.headId)) return {}
  moveHead(draft, leafBelow(below)?.id ?? messageId)
  return {}
}

/** Only what is said about a call has seen what else its run waits for. */
const isCallCommand = ({ type }: Command): boolean => COMMANDS[type] === call

/** The same for all that can be said about a call. */
const call = {
  needs: ({ messageId }: CallCommand): Needs => ({ messages: [messageId], unsettled: true, queue: true }),
  apply(draft: Draft, said: CallCommand, { tools }: Asked): Done {
    const row = messageIn(draft, said.messageId)
    if (!row) throw notInSession('messageId', said.messageId)
    decideCall(draft, row, said, tools)
    return { messageId: said.messageId }
  },
}

/** Every command with what it has to see and what it does. */
const COMMANDS: { readonly [T in Command['type']]: CommandKind<T> } = {
  cancel: { needs: ({ runId }) => ({ runs: [runId], unsettled: true, queue: true }), apply: cancel },
  regenerate: {
    needs: ({ messageId, runId }) => ({ path: messageId, runs: [runId], queue: true }),
    apply: regenerate,
  },
  continue: {
    needs: ({ messageId, runId }) => ({ messages: [messageId], runs: [runId], queue: true }),
    apply: goOnFrom,
  },
  edit: {
    needs: ({ messageId, newId, runId }) => ({ messages: [messageId, newId], runs: [runId], queue: true }),
    apply: edit,
  },
  approve: call,
  reject: call,
  askApproval: call,
  toolResult: call,
  selectBranch: { needs: ({ messageId }) => ({ below: messageId }), apply: selectBranch },
}

const kindOf = <T extends Command['type']>(type: T): CommandKind<T> => COMMANDS[type]

export const needsOfCommand = <T extends Command['type']>(command: CommandOf<T> & { type: T }): Needs => ({
  ...kindOf(command.type).needs(command),
  key: command.id,
})

/** Applies a command once; the same command again is answered as it was. */
export function command<T extends Command['type']>(
  view: View,
  given: CommandOf<T> & { type: T },
  terms: Terms,
  asked: Asked,
): Decision<Accepted> {
  liveSession(view)
  const before = repeated(view, asked.hash)
  if (before) return { changes: [], answer: before }
  const draft = openDraft(view, terms)
  const { messageId = null, runId = null, ended = [] } = kindOf(given.type).apply(draft, given, asked)
  const lease = (isCallCommand(given) ? goOn(draft) : undefined) ?? beginNext(draft)
  const { hash } = asked
  const event: EventId = { n: draft.session.events, tag: draft.session.tag ?? '' }
  const key = bind(draft, { key: given.id, hash, messageId, runId, event })
  const message = messageId === null ? undefined : messageIn(draft, messageId)?.message
  return decided(draft, { key, ended, ...(message && { message }), ...(lease && { lease }) })
}
