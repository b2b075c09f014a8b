interface Event {
  type: string
  [field: string]: unknown
}

/** Events as Anthropic writes them. */
export const stream = (...events: Event[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
export const start = (message: object = {}) => ({
  type: 'message_start',
  message: {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    usage: { input_tokens: 9, output_tokens: 1 },
    ...message,
  },
})
export const block = (content_block: object, index = 0) => ({
  type: 'content_block_start',
  index,
  content_block,
})
export const delta = (piece: object, index = 0) => ({ type: 'content_block_delta', index, delta: piece })
export const text = (words: string, index = 0) => delta({ type: 'text_delta', text: words }, index)
export const json = (partial_json: string, index = 0) =>
  delta({ type: 'input_json_delta', partial_json }, index)
export const ended = (index = 0) => ({ type: 'content_block_stop', index })
export const stopped = (stop_reason: string, more: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 5 },
  ...more,
})
export const end = { type: 'message_stop' }
export const said = (words: string, index = 0) => [
  block({ type: 'text', text: '' }, index),
  text(words, index),
  ended(index),
]
