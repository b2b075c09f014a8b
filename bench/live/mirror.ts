import { createChat, remote } from 'tidemark'
import { dexieStorage } from 'tidemark/dexie'
import { openWire, SESSION_ID } from './wire.ts'
import { now } from './write.ts'

/** What a tab saw that does not lead: how long the text was after each piece that was appended, and when. */
export type Seen = [end: number, at: number][]

/** Opens the session in a tab that only looks on. */
export async function openMirror(name: string, messageId: string): Promise<{ seen: Seen }> {
  const { fetch } = openWire()
  const chat = createChat({
    storage: dexieStorage(name),
    runtime: remote({ url: 'http://live.invalid', fetch }),
  })
  const session = chat.session(SESSION_ID)
  const seen: Seen = []
  session.subscribe(() => session.get())
  session.message(messageId).onAppend(({ offset, text }) => seen.push([offset + text.length, now()]))
  while (!session.message(messageId).get()) await new Promise((resolve) => setTimeout(resolve, 5))
  return { seen }
}

const CHANNEL = 'clock'

/** Answers those who ask what time it is here. */
export function tellTime(): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.onmessage = ({ data }) => {
    if (data === 'ask') channel.postMessage(now())
  }
}

/** How far the clock of the tab that tells the time is ahead of this one's, in milliseconds. */
export async function askTime(): Promise<number> {
  const channel = new BroadcastChannel(CHANNEL)
  let best = { trip: Number.POSITIVE_INFINITY, ahead: 0 }
  for (let round = 0; round < 50; round++) {
    const asked = now()
    const told = await new Promise<number>((resolve) => {
      channel.onmessage = ({ data }) => {
        if (typeof data === 'number') resolve(data)
      }
      channel.postMessage('ask')
    })
    const trip = now() - asked
    // The quickest answer was on its way half of the time.
    if (trip < best.trip) best = { trip, ahead: told - asked - trip / 2 }
  }
  channel.close()
  return best.ahead
}
