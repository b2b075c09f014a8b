type Json = Record<string, unknown>

/** An event as it stands in the stream. */
export const event = (type: string, more: Json = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ ...more, event_type: type })}\n\n`

export const created = (id = 'v1_1', model = 'm'): string =>
  event('interaction.created', { interaction: { id, status: 'in_progress', object: 'interaction', model } })

export const start = (index: number, step: Json): string => event('step.start', { index, step })
export const delta = (index: number, piece: Json): string => event('step.delta', { index, delta: piece })
export const stop = (index: number): string => event('step.stop', { index })

/** A step with its pieces, from its beginning to its end. */
export const step = (index: number, first: Json, ...pieces: Json[]): string =>
  [start(index, first), ...pieces.map((piece) => delta(index, piece)), stop(index)].join('')

export const says = (index: number, ...texts: string[]): string =>
  step(index, { type: 'model_output' }, ...texts.map((text) => ({ type: 'text', text })))

export const completed = (status = 'completed', more: Json = {}): string =>
  event('interaction.completed', { interaction: { id: 'v1_1', status, ...more } })
