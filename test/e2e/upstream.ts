import { listen } from '../../demo/server/listen.ts'

/** A model server of Chat Completions that a test leads by what it asks. */
export interface ScriptedUpstream {
  /** What the demo's server is told of it. */
  env: Readonly<Record<string, string>>
  /** The last user message of every request, in order. */
  asked: string[]
  /** Lets every answer that waits go on to its end. */
  release(): void
  close(): Promise<void>
}

const LONG = `A **tidemark** is the line that the sea leaves behind: everything above it is *settled*.

## In a chat

1. Every event has a number.
2. What was seen is stored, with the number of the last one:

   \`\`\`sh
   curl /api/sessions/welcome/events
   \`\`\`

| Tide | Moon | Range |
| --- | --- | ---: |
| Spring | new or full | 4.2 m |
| Neap | first or last quarter | 1.9 m |

\`\`\`ts
export const settled = <T extends { status: string }>(messages: readonly T[]): T[] => messages.filter((message) => message.status === 'completed')
\`\`\`

> Twice a day the water comes and goes.

See [the almanac](https://example.com/almanac).`

/** What is answered, by a word of the question. \`␞\` waits for the release. */
const ANSWERS: readonly [RegExp, string][] = [
  [/slowly/, 'It begins slowly, ␞and it ends.'],
  [/at length/, LONG],
  [/in the middle/, LONG.replace('Neap', '␞Neap')],
  [
    /hostile/,
    '<img src=x onerror="window.hurt = 1"><script>window.hurt = 2</script> [here](javascript:window.hurt=3) ![a](https://example.invalid/a.png) done',
  ],
]

const answerTo = (question: string): string =>
  ANSWERS.find(([word]) => word.test(question))?.[1] ?? `You said: ${question}`

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

async function* frames(
  answer: string,
  released: () => Promise<void>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const word of answer.split(/(?<=[\s␞])/)) {
    if (signal.aborted) return
    yield chunk({ content: word.replace('␞', '') })
    if (word.includes('␞')) await released()
  }
  yield chunk({}, 'stop')
  yield 'data: [DONE]\n\n'
}

export async function startUpstream(): Promise<ScriptedUpstream> {
  const asked: string[] = []
  const waiting = new Set<() => void>()
  const released = () => new Promise<void>((resolve) => waiting.add(resolve))
  const answer = async (request: Request): Promise<Response> => {
    const { messages } = await request.json()
    const question = String(messages.at(-1).content)
    asked.push(question)
    if (question.includes('refuse'))
      return Response.json({ error: { message: 'no such model' } }, { status: 400 })
    const encoder = new TextEncoder()
    const source = frames(answerTo(question), released, request.signal)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await source.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const { port, close } = await listen(answer, { port: 0 })
  const release = () => {
    for (const go of waiting) go()
    waiting.clear()
  }
  return {
    env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}`, OPENAI_MODEL: 'scripted' },
    asked,
    release,
    async close() {
      release()
      await close()
    },
  }
}
