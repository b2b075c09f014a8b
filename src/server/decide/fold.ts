import { TidemarkError } from '../../lib/errors.ts'
import type { Message } from '../../message/schema.ts'
import { applyPiece, decideDelta } from '../../protocol/delta.ts'
import type { MessageDelta } from '../../protocol/events.ts'

/** A message with a delta added. Deltas come in order and without holes: their events are numbered. */
export function foldDelta(message: Message, delta: MessageDelta): Message {
  if (message.role !== 'assistant') throw misfit(delta)
  const decision = decideDelta(message, delta, { proven: true, ignoreOffset: false, retold: false })
  if (decision.type === 'gap') throw misfit(delta)
  return decision.type === 'same' ? message : applyPiece(message, decision.piece, decision.block)
}

const misfit = ({ id, index }: MessageDelta): TidemarkError =>
  new TidemarkError('protocol', `a delta of block ${index} does not fit message ${id}`)
