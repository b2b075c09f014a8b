import { completed, created, says, step } from '../interaction-events.ts'
import { halves, type Piece, type Wire } from './wire.ts'

/** Google's Interactions, as a stream of steps. */
export const interactionsWire: Wire = (pieces, model, n) => {
  const steps = pieces.flatMap((piece, i) => stepsOf(piece, `s_${n}_${i}`))
  const called = pieces.some(({ type }) => type === 'call')
  return {
    body: created(`v1_${n}`, model) + steps.map((write, index) => write(index)).join(''),
    end: completed(called ? 'requires_action' : 'completed'),
  }
}

type Step = (index: number) => string

function stepsOf(piece: Piece, id: string): Step[] {
  if (piece.type === 'text') return [(index) => says(index, ...halves(piece.text))]
  if (piece.type === 'picture') {
    const image = { type: 'image', mime_type: 'image/png', data: piece.data }
    return [(index) => step(index, { type: 'model_output' }, image)]
  }
  if (piece.type === 'server')
    return [
      (index) => {
        const more = { type: 'google_search_call', arguments: { queries: ['q'] } }
        return step(index, { type: 'google_search_call', id, signature: '' }, more)
      },
      (index) => step(index, { type: 'google_search_result', call_id: id, result: [], signature: 'server' }),
    ]
  if (piece.type === 'call') {
    const { id: callId, name, args } = piece
    const written = halves(args).map((half) => ({ type: 'arguments_delta', arguments: half }))
    return [(index) => step(index, { type: 'function_call', id: callId, name, arguments: {} }, ...written)]
  }
  const thought = piece.type === 'thinking' ? halves(piece.text) : []
  const summaries = thought.map((text) => ({ type: 'thought_summary', content: { type: 'text', text } }))
  const proof = { type: 'thought_signature', signature: piece.proof }
  return [(index) => step(index, { type: 'thought' }, ...summaries, proof)]
}
