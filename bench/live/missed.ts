import { type ChatSession, createChat, remote } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { seen } from '../../test/support/seen.ts'
import { answerOf } from '../answer.ts'
import { openWire, runOf, SESSION_ID, type Wire } from './wire.ts'
import { now } from './write.ts'

/** What is missed: one long answer, or many short ones. */
export type Kind = 'one answer' | 'many messages'

/** Deltas of a short answer; with what begins and ends a run it has ten events. */
const DELTAS = 4

function longAnswer(events: number): { missed: ChatEvent[]; last: string } {
  const run = runOf(1)
  const [begin, deltas] = [run.begin(), answerOf(events - 6).deltas.map(run.delta)]
  return { missed: [...begin, ...deltas, ...run.end()], last: run.id }
}

function shortAnswers(events: number): { missed: ChatEvent[]; last: string } {
  const missed: ChatEvent[] = []
  let last = ''
  for (let at = 1; missed.length < events; at++) {
    const run = runOf(at)
    missed.push(...run.begin(), ...answerOf(DELTAS).deltas.map(run.delta), ...run.end())
    last = run.id
  }
  return { missed, last }
}

const isDone = (session: ChatSession, id: string): boolean => {
  const { messages, status } = session.get()
  return status === 'ready' && messages.at(-1)?.id === id && messages.at(-1)?.status === 'completed'
}

export interface Missing {
  /** The line is back: resolves when everything is there. */
  heal(): Promise<{ renders: number; frames: number; took: number }>
}

function begun(wire: Wire): void {
  const run = runOf(0)
  wire.say([...run.begin(), run.delta('It is a mark.'), ...run.end()])
}

/** A session that is in step, then misses so many events. */
export async function openMissing(kind: Kind, events: number): Promise<Missing> {
  const wire = openWire()
  const storage = dexieStorage(`missed-${Math.round(now())}`)
  const chat = createChat({ storage, runtime: remote({ url: 'http://live.invalid', fetch: wire.fetch }) })
  const session = chat.session(SESSION_ID)
  begun(wire)
  await seen(session, () => isDone(session, runOf(0).id))
  wire.down()
  await seen(session, () => session.get().connection === 'reconnecting')
  const { missed, last } = (kind === 'one answer' ? longAnswer : shortAnswers)(events)
  wire.say(missed)
  return {
    async heal() {
      let [renders, frames, isOver] = [0, 0, false]
      session.subscribe(() => {
        session.get()
        renders++
      })
      const frame = () => {
        frames++
        if (!isOver) requestAnimationFrame(frame)
      }
      wire.up()
      requestAnimationFrame(frame)
      const start = now()
      dispatchEvent(new Event('online'))
      await seen(session, () => isDone(session, last))
      const took = now() - start
      isOver = true
      // Flushes what is not stored yet: that is part of the work.
      await chat.close()
      return { renders, frames, took }
    },
  }
}
