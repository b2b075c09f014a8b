import type { MemorySizes } from '../memory.ts'
import { measureHealing } from './healing.ts'
import { askTime, openMirror, type Seen, tellTime } from './mirror.ts'
import { type Kind, type Missing, openMissing } from './missed.ts'
import { measureOpening } from './opening.ts'
import { fillRecall, measureFirstSearch } from './recall.ts'
import {
  openWriting,
  readAnswer,
  type Streamed,
  type StreamOptions,
  type WriteOptions,
  type Writing,
} from './write.ts'

/** What the bench can ask of a page. One thing at a time: what is opened is closed before the next. */
export interface Live {
  openWriting(options: WriteOptions): Promise<string>
  stream(options: StreamOptions): Promise<Streamed>
  /** Streams until the page is gone. Answers with when it began, in milliseconds since the epoch. */
  streamOn(perSecond: number): number
  closeWriting(): Promise<void>
  /** What a chat shows of the answer that was written here before. */
  read(name: string): Promise<string>
  openMirror(name: string, messageId: string): Promise<void>
  seen(): Seen
  tellTime(): void
  askTime(): Promise<number>
  openMissing(kind: Kind, events: number): Promise<void>
  heal(): ReturnType<Missing['heal']>
  measureOpening: typeof measureOpening
  measureHealing: typeof measureHealing
  fillRecall(sizes: MemorySizes): Promise<void>
  measureFirstSearch: typeof measureFirstSearch
}

declare global {
  interface Window {
    live: Live
  }
}

/** More than are waited for, and few enough to be made in no time. */
const MOST_DELTAS = 1_000

let writing: Writing | undefined
let missing: Missing | undefined
let seen: Seen = []

const current = (): Writing => {
  if (!writing) throw new Error('nothing is written')
  return writing
}

const live: Live = {
  async openWriting(options) {
    writing = await openWriting(options)
    return writing.run.id
  },
  stream: (options) => current().stream(options),
  streamOn(perSecond) {
    const begun = Date.now()
    void current().stream({ deltas: MOST_DELTAS, perSecond })
    return begun
  },
  async closeWriting() {
    await current().chat.close()
    writing = undefined
  },
  read: readAnswer,
  async openMirror(name, messageId) {
    seen = (await openMirror(name, messageId)).seen
  },
  seen: () => seen,
  tellTime,
  askTime,
  async openMissing(kind, events) {
    missing = await openMissing(kind, events)
  },
  heal() {
    if (!missing) throw new Error('nothing is missed')
    return missing.heal()
  },
  measureOpening,
  measureHealing,
  async fillRecall(sizes) {
    await fillRecall(sizes)
  },
  measureFirstSearch,
}
Object.assign(globalThis, { live })
