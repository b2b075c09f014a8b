/** Why a message is sent, in words for people. */
const SENT: Readonly<Record<string, string>> = {
  system: 'holds the instructions',
  newest: 'belongs to the newest turn',
  history: 'earlier turn, whole',
  interrupted: 'cut off: sent as marked text',
  note: 'changed instructions, as a note',
  pins: 'pinned, as a note',
  goal: 'the task, as a note',
  tasks: 'a finished task, as a line',
  memory: 'recalled, as a note',
  summary: 'told in a summary',
}

/** Why a message stays out. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  branch: 'on another branch',
  duplicate: 'said twice',
  unsettled: 'not settled yet',
  failed: 'failed: not part of the conversation',
  interrupted: 'was cut off',
  empty: 'says nothing',
  orphan: 'a result without its call',
  dangling: 'calls without results',
  budget: 'no room left',
  window: 'older than the turns that are kept',
  summary: 'told in a summary',
  task: 'of a task that is finished',
}

/** A reason that this page does not know is shown as it is. */
export const wordsFor = (reason: string | undefined, sent: boolean): string =>
  (sent ? SENT : LEFT_OUT)[reason ?? ''] ?? reason ?? (sent ? 'sent' : 'left out')

const whole = new Intl.NumberFormat('en')

export const tokens = (count: number | undefined): string =>
  count === undefined ? '–' : `${whole.format(count)} token${count === 1 ? '' : 's'}`

export const time = (ms: number | undefined): string =>
  ms === undefined ? '–' : ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
