import { CallRecord } from '../context/call-record.ts'
import type { SessionRecord, SessionRecords } from '../context/session-records.ts'
import type { WatchCalls } from './watch.ts'

/** The kind under which the records of calls are kept. */
const KIND = 'call'

/** Records of calls kept by session, unless somebody says otherwise. */
const KEPT = 100

export interface CallLogOptions {
  /** Records kept of each session: the newest. 0 keeps none. @default 100 */
  keep?: number | undefined
  /** Hears why a record could not be kept. */
  onError?: (error: unknown) => void
}

/** What keeps the records of a run's calls. */
export interface CallLog {
  readonly watch: WatchCalls
  /** Resolves when what has ended so far is kept, or could not be. Never rejects. */
  flush(): Promise<void>
}

/** Sorts as text in the order of the numbers. */
const stampOf = (count: number): string => count.toString(36).padStart(10, '0')

/** The time in a key, which is its age among others and nothing else. */
const timeOf = (key: string | undefined): number => Number.parseInt(key?.slice(0, 10) ?? '', 36) || 0

const byAge = (records: readonly SessionRecord[]): SessionRecord[] =>
  [...records].sort((a, b) => (a.key < b.key ? -1 : 1))

/** Keeps the record of each call of a run among those of its session, the newest so many of them. */
export function callLog(records: SessionRecords, options: CallLogOptions = {}): CallLog {
  const { keep = KEPT, onError = () => undefined } = options
  /** Keys of what is kept, the oldest first; read when it is first needed, away from the run. */
  let kept: string[] | undefined
  let work: Promise<void> = Promise.resolve()

  async function add(record: CallRecord): Promise<void> {
    kept ??= byAge(await records.read(KIND)).map(({ key }) => key)
    // A clock that was put back does not make a call older than the one before it.
    const key = stampOf(Math.max(Math.floor(record.startedAt), timeOf(kept.at(-1)) + 1)) + record.id
    const all = [...kept, key]
    const gone = all.splice(0, Math.max(0, all.length - keep))
    await records.write(KIND, [{ key, value: record }], gone)
    kept = all
  }

  return {
    watch: () => ({
      end(record) {
        if (keep > 0) work = work.then(() => add(record)).catch(onError)
      },
    }),
    flush: () => work,
  }
}

/** The records of a session's calls, the oldest first. What cannot be read is left out. */
export async function readCalls(records: SessionRecords): Promise<CallRecord[]> {
  return byAge(await records.read(KIND)).flatMap(({ value }) => CallRecord.safeParse(value).data ?? [])
}
