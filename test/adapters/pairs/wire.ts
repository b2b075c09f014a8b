/** A piece of an answer, before any provider has spelt it. */
export type Piece =
  | { type: 'thinking'; text: string; proof: string }
  /** Thinking that is proven, and not shown. */
  | { type: 'hidden'; proof: string }
  | { type: 'text'; text: string }
  /** `args` is what the model wrote: JSON, mostly. */
  | { type: 'call'; id: string; name: string; args: string }
  | { type: 'picture'; data: string }
  /** What the provider's own server did. */
  | { type: 'server' }

/** How a dialect writes an answer: what comes before its end, and its end. `n` is the answer's number. */
export type Wire = (pieces: readonly Piece[], model: string, n: number) => { body: string; end: string }

type Json = Record<string, unknown>

const sse = (...events: Json[]): string =>
  events
    .map((event) => `${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')

/** Cut in the middle, wherever that is: also between the halves of a surrogate pair. */
export const halves = (text: string): string[] => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
]

/** An object, where the text is one: some dialects cannot say anything else. */
const objectOf = (args: string): unknown => {
  try {
    return JSON.parse(args)
  } catch {
    return { unreadable: args }
  }
}

/** Chat Completions as OpenRouter streams it; `plain` as most others do: thinking without proof. */
export const chatWire =
  (plain: boolean): Wire =>
  (pieces, model, n) => {
    const chunk = (delta: Json, finish: string | null = null): string =>
      sse({ id: `gen-${n}`, model, choices: [{ index: 0, delta, finish_reason: finish }] })
    const said = pieces.flatMap((piece, index): string[] => {
      if (piece.type === 'text') return halves(piece.text).map((content) => chunk({ content }))
      if (piece.type === 'thinking') {
        const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
        const details = [{ text: piece.text }, { text: '', signature: piece.proof }]
        return plain
          ? halves(piece.text).map((reasoning_content) => chunk({ reasoning_content }))
          : details.map((more) => chunk({ reasoning_details: [{ ...detail, ...more }] }))
      }
      if (piece.type === 'hidden')
        return plain
          ? []
          : [chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: piece.proof, index: 0 }] })]
      if (piece.type === 'picture')
        return [
          chunk({
            images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${piece.data}` } }],
          }),
        ]
      if (piece.type === 'server')
        return [
          chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }] }),
        ]
      const { id, name, args } = piece
      const call = { index, id, type: 'function', function: { name, arguments: '' } }
      return [
        chunk({ tool_calls: [call] }),
        ...halves(args).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
      ]
    })
    const called = pieces.some(({ type }) => type === 'call')
    return {
      body: chunk({ role: 'assistant', content: '' }) + said.join(''),
      end: `${chunk({}, called ? 'tool_calls' : 'stop')}data: [DONE]\n\n`,
    }
  }

/** OpenAI's Responses, with ids and proofs. */
export const responsesWire: Wire = (pieces, model, n) => {
  const items = pieces.map((piece, i): Json => {
    const [id, status] = [`_${n}_${i}`, 'completed']
    if (piece.type === 'thinking')
      return {
        type: 'reasoning',
        id: `rs${id}`,
        summary: [{ type: 'summary_text', text: piece.text }],
        encrypted_content: piece.proof,
      }
    if (piece.type === 'hidden')
      return { type: 'reasoning', id: `rs${id}`, summary: [], encrypted_content: piece.proof }
    if (piece.type === 'text') {
      const content = [{ type: 'output_text', text: piece.text, annotations: [] }]
      return { type: 'message', id: `msg${id}`, role: 'assistant', status, content }
    }
    if (piece.type === 'picture')
      return {
        type: 'image_generation_call',
        id: `ig${id}`,
        status,
        output_format: 'png',
        result: piece.data,
      }
    if (piece.type === 'server')
      return { type: 'web_search_call', id: `ws${id}`, status, action: { type: 'search', query: 'q' } }
    const { id: call_id, name, args } = piece
    return { type: 'function_call', id: `fc${id}`, status, call_id, name, arguments: args }
  })
  const response = { id: `resp_${n}`, object: 'response', model }
  const done = items.map((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '', content: [] } },
    ...piecesOf(item).map((piece) => ({ ...piece, output_index })),
    { type: 'response.output_item.done', output_index, item },
  ])
  return {
    body: sse({ type: 'response.created', response: { ...response, status: 'in_progress' } }, ...done.flat()),
    end: sse({ type: 'response.completed', response: { ...response, status: 'completed', output: items } }),
  }
}

function piecesOf({ type, content, arguments: args }: Json): Json[] {
  if (type === 'function_call')
    return halves(String(args)).map((delta) => ({ type: 'response.function_call_arguments.delta', delta }))
  if (type !== 'message' || !Array.isArray(content)) return []
  return halves(String(content[0]?.text)).map((delta) => {
    return { type: 'response.output_text.delta', content_index: 0, delta }
  })
}

/** Anthropic's Messages. */
export const messagesWire: Wire = (pieces, model, n) => {
  const events = pieces
    .flatMap((piece, i) => blocksOf(piece, `srvtoolu_${n}_${i}`))
    .flatMap(([begin, ...deltas], index): Json[] => [
      { type: 'content_block_start', index, content_block: begin },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ])
  const message = { type: 'message', id: `msg_${n}`, role: 'assistant', model, content: [] }
  const stop_reason = pieces.some(({ type }) => type === 'call') ? 'tool_use' : 'end_turn'
  return {
    body: sse({ type: 'message_start', message }, ...events),
    end: sse({ type: 'message_delta', delta: { stop_reason } }, { type: 'message_stop' }),
  }
}

/** What its blocks begin with, each with its deltas. */
function blocksOf(piece: Piece, serverId: string): Json[][] {
  const written = (args: string) =>
    halves(args).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  if (piece.type === 'thinking')
    return [
      [
        { type: 'thinking', thinking: '', signature: '' },
        ...halves(piece.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: piece.proof },
      ],
    ]
  if (piece.type === 'hidden') return [[{ type: 'redacted_thinking', data: piece.proof }]]
  if (piece.type === 'text')
    return [[{ type: 'text', text: '' }, ...halves(piece.text).map((text) => ({ type: 'text_delta', text }))]]
  // It draws none.
  if (piece.type === 'picture') return []
  if (piece.type === 'server')
    return [
      [{ type: 'server_tool_use', id: serverId, name: 'web_search', input: {} }, ...written('{"query":"q"}')],
      [{ type: 'web_search_tool_result', tool_use_id: serverId, content: [] }],
    ]
  return [[{ type: 'tool_use', id: piece.id, name: piece.name, input: {} }, ...written(piece.args)]]
}

/** Gemini's `streamGenerateContent`: calls have their proofs with them. */
export const geminiWire: Wire = (pieces, model, n) => {
  const parts = pieces.flatMap((piece, i): Json[] => {
    if (piece.type === 'thinking')
      return [
        { text: piece.text, thought: true },
        { text: '', thoughtSignature: piece.proof },
      ]
    if (piece.type === 'hidden') return [{ text: '', thoughtSignature: piece.proof }]
    if (piece.type === 'text') return halves(piece.text).map((text) => ({ text }))
    if (piece.type === 'picture') return [{ inlineData: { mimeType: 'image/png', data: piece.data } }]
    if (piece.type === 'server')
      return [
        { executableCode: { language: 'PYTHON', code: '1' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ]
    const { id, name, args } = piece
    return [{ functionCall: { id, name, args: objectOf(args) }, thoughtSignature: `call-proof-${n}-${i}` }]
  })
  const chunk = (content: Json, more: Json = {}) =>
    sse({
      candidates: [{ index: 0, content: { role: 'model', ...content }, ...more }],
      modelVersion: model,
      responseId: `g${n}`,
    })
  return {
    body: parts.map((part) => chunk({ parts: [part] })).join(''),
    end: chunk({ parts: [] }, { finishReason: 'STOP' }),
  }
}

/** Ollama's `/api/chat`: no proofs, and mostly no ids. */
export const ollamaWire: Wire = (pieces, model) => {
  const line = (message: Json, done = false): string =>
    `${JSON.stringify({ model, message: { role: 'assistant', ...message }, done })}\n`
  const said = pieces.flatMap((piece): string[] => {
    if (piece.type === 'thinking')
      return halves(piece.text).map((thinking) => line({ content: '', thinking }))
    if (piece.type === 'text') return halves(piece.text).map((content) => line({ content }))
    if (piece.type !== 'call') return []
    return [
      line({
        content: '',
        tool_calls: [{ function: { name: piece.name, arguments: objectOf(piece.args) } }],
      }),
    ]
  })
  return { body: said.join(''), end: line({ content: '' }, true) }
}
