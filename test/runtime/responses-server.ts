import type { ServerResponse } from 'node:http'
import { modelServer } from './model-server.ts'

/** An answer that is written whether or not anybody reads it, and kept. */
interface Kept {
  events: readonly string[]
  /** How many of them are written. */
  written: number
  readonly readers: Set<ServerResponse>
}

export interface ResponsesServer {
  url: string
  /** What was asked, as `<method> <path>`. */
  readonly asked: string[]
  /** How many events the answer to that question has, counted from 0. */
  eventsOf(question: number): number
  /** Writes as many events of the answer to that question as it takes to have so many. */
  writeTo(question: number, events: number): void
  /** Keeps no answers any more. */
  forget(): void
  stop(): Promise<void>
}

const HEAD = { 'content-type': 'text/event-stream' }

/** The events of a recorded stream, as if it had been asked for in the background. */
const inBackground = (recorded: string, id: string): string[] =>
  recorded
    .split(/(?<=\n\n)/)
    .filter((event) => event.includes('data:'))
    .map((event) =>
      event.replaceAll(/"(resp_[0-9a-f]+)"/g, `"${id}"`).replace('"background":false', '"background":true'),
    )

/**
 * A server that speaks the Responses API with `background`: each question is answered by the next recorded stream, as far
 * as it is told to write it; what is written can be heard again, from its beginning or from after an event.
 */
export async function responsesServer(recordings: readonly string[]): Promise<ResponsesServer> {
  const kept: Kept[] = []
  const asked: string[] = []
  let forgotten = false
  const answerAt = (index: number): Kept => {
    const known = kept[index]
    if (known) return known
    throw new Error(`there is no question ${index}`)
  }
  const end = ({ events, written, readers }: Kept) => {
    if (written < events.length) return
    for (const reader of readers) reader.end()
    readers.clear()
  }
  const read = (answer: Kept, response: ServerResponse, from: number) => {
    response.writeHead(200, HEAD)
    response.flushHeaders()
    for (const event of answer.events.slice(from, answer.written)) response.write(event)
    answer.readers.add(response)
    end(answer)
  }
  const server = await modelServer((response, { method, url = '' }) => {
    asked.push(`${method} ${url}`)
    const [, number, rest] = /^\/responses\/resp_(\d+)(.*)$/.exec(url) ?? []
    if (number === undefined) {
      const events = inBackground(recordings[kept.length] ?? '', `resp_${kept.length}`)
      kept.push({ events, written: 0, readers: new Set() })
      read(answerAt(kept.length - 1), response, 0)
    } else if (forgotten) response.writeHead(404).end('{"error":{"message":"Response not found"}}')
    else if (rest?.startsWith('?stream=true')) {
      const after = /starting_after=(\d+)/.exec(rest)?.[1]
      read(answerAt(Number(number)), response, after === undefined ? 0 : Number(after) + 1)
    } else response.end('{}')
  })
  return {
    url: server.url,
    asked,
    eventsOf: (question) => answerAt(question).events.length,
    writeTo(question, events) {
      const answer = answerAt(question)
      for (; answer.written < events; answer.written++)
        for (const reader of answer.readers) reader.write(answer.events[answer.written])
      end(answer)
    },
    forget() {
      forgotten = true
    },
    stop: server.stop,
  }
}
