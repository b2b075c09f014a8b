import { type Chat, type ChatStorage, createChat, memoryStorage, remote, textOf } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { answerOf } from '../answer.ts'
import { openWire, runOf, type ScriptedRun, SESSION_ID } from './wire.ts'

/** Where the answer is written: in the browser, or nowhere, for what everything else costs. */
export type Where = 'disk' | 'nowhere'

export interface WriteOptions {
  where: Where
  /** Characters that the answer has before the first delta that counts. */
  before: number
  /** The deltas' bytes are counted as they are handed to IndexedDB, which takes time by itself. */
  weigh?: boolean
  /** Of the database. @default a new one */
  name?: string
}

export interface StreamOptions {
  deltas: number
  perSecond: number
}

export interface Streamed {
  /** Bytes handed to IndexedDB, where they were to be weighed. */
  bytes: number
  /** The longest that a delta waited until it was stored, in milliseconds. */
  late: number
  /** When each delta was said: its offset, and milliseconds since the epoch. */
  said: [offset: number, at: number][]
}

/** A commit that takes everything and keeps nothing. */
const nowhere = (): ChatStorage => ({ ...memoryStorage(), durable: true, commit: async () => {} })

/** Counts what is put into IndexedDB, as the JSON of it: what a browser makes of it is about as long. */
function weighPuts(): { bytes: number } {
  const weight = { bytes: 0 }
  const { put } = IDBObjectStore.prototype
  const encoder = new TextEncoder()
  IDBObjectStore.prototype.put = function (this: IDBObjectStore, value: unknown, ...key: [IDBValidKey?]) {
    weight.bytes += encoder.encode(JSON.stringify(value)).length
    return Reflect.apply(put, this, [value, ...key])
  }
  return weight
}

/** Characters of an answer's text that a batch of changes knows. */
function watched(storage: ChatStorage, id: string, onStored: (characters: number) => void): ChatStorage {
  return {
    ...storage,
    async commit(changes, options) {
      await storage.commit(changes, options)
      for (const change of changes)
        if (change.type === 'journal') onStored(change.entry.offset + change.entry.text.length)
        else if (change.type === 'message' && change.row.message.id === id) {
          const [block] = change.row.message.content
          if (block?.type === 'text') onStored(block.text.length)
        }
    },
  }
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

export const now = (): number => performance.timeOrigin + performance.now()

export interface Writing {
  chat: Chat
  run: ScriptedRun
  stream(options: StreamOptions): Promise<Streamed>
}

/** Says so many deltas at their pace: those that a late timer missed, at once. */
function paced({ deltas, perSecond }: StreamOptions, say: () => void): Promise<void> {
  const start = now()
  let said = 0
  return new Promise((resolve) => {
    const timer = setInterval(
      () => {
        const due = Math.min(deltas, Math.floor(((now() - start) * perSecond) / 1_000))
        for (; said < due; said++) say()
        if (said < deltas) return
        clearInterval(timer)
        resolve()
      },
      Math.max(1, 1_000 / perSecond),
    )
  })
}

let databases = 0

/** A session whose answer has begun, and is stored as far as it goes. */
export async function openWriting(options: WriteOptions): Promise<Writing> {
  const { where, before, weigh = false, name = `write-${databases++}-${Math.round(now())}` } = options
  const weight = weigh ? weighPuts() : { bytes: 0 }
  const run = runOf(0)
  const saved = { characters: 0 }
  const waiting: [end: number, at: number][] = []
  let late = 0
  const base = where === 'disk' ? dexieStorage(name) : nowhere()
  const storage = watched(base, run.id, (characters) => {
    saved.characters = Math.max(saved.characters, characters)
    while (waiting[0] && waiting[0][0] <= saved.characters) {
      late = Math.max(late, now() - waiting[0][1])
      waiting.shift()
    }
  })
  const wire = openWire()
  const chat = createChat({ storage, runtime: remote({ url: 'http://live.invalid', fetch: wire.fetch }) })
  const session = chat.session(SESSION_ID)
  session.subscribe(() => session.get())
  await until(() => session.get().connection === 'online')
  const text = answerOf(before).text.slice(0, before)
  wire.say([...run.begin(), run.delta(text)])
  await until(() => saved.characters >= text.length)
  let length = text.length
  const stream = async ({ deltas, perSecond }: StreamOptions): Promise<Streamed> => {
    const words = answerOf(deltas).deltas
    const said: Streamed['said'] = []
    Object.assign(weight, { bytes: 0 })
    late = 0
    await paced({ deltas, perSecond }, () => {
      const word = words[said.length] ?? ''
      said.push([length, now()])
      length += word.length
      waiting.push([length, now()])
      wire.say([run.delta(word)])
    })
    await until(() => saved.characters >= length)
    return { bytes: weight.bytes, late, said }
  }
  return { chat, run, stream }
}

/** What a chat without a line shows of an answer that was being written when its page went. */
export async function readAnswer(name: string): Promise<string> {
  const { fetch, down } = openWire()
  down()
  const chat = createChat({
    storage: dexieStorage(name),
    runtime: remote({ url: 'http://live.invalid', fetch }),
  })
  const session = chat.session(SESSION_ID)
  await until(() => session.get().status !== 'loading')
  const message = session.message(runOf(0).id).get()
  await chat.close()
  return message ? textOf(message) : ''
}

/** What an answer says that had so many characters, and streamed on: its first that many. */
export const textSoFar = (before: number, length: number): string =>
  (answerOf(before).text.slice(0, before) + answerOf(length).text).slice(0, length)
