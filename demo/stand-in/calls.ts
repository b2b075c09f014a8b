import type { Said } from './answer.ts'
import { sumIn } from './arithmetic.ts'

/** A call that the stand-in wants made before it answers. */
export interface WantedCall {
  id: string
  name: string
  arguments: object
}

export const asksForTime = (text: string): boolean =>
  /\bwhat('s| is) the (time|date)\b|\bwhat (time|day|date) is it\b|\btime is it\b/i.test(text)

/** What somebody wants looked into, by a run of its own. */
export const wantsResearch = (text: string): string | undefined => {
  const [, task = ''] = /^look into:? (.+)/is.exec(text) ?? []
  return task ? task.charAt(0).toUpperCase() + task.slice(1) : undefined
}

/** The time zone of a city that is asked for, where there is one of its name. */
function zoneIn(text: string): string | undefined {
  const [, city = ''] = /\bin ([\p{L} ]+)/u.exec(text) ?? []
  const name = `/${city.trim().replaceAll(' ', '_').toLowerCase()}`
  return Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().endsWith(name))
}

/** What has to be found out for a question, by the tools that are offered; undefined where nothing has, or it is known. */
export function callFor(said: readonly Said[], tools: readonly string[]): WantedCall | undefined {
  const last = said.at(-1)
  if (last?.role !== 'user') return undefined
  const id = `call_${said.length}`
  const task = tools.includes('research') ? wantsResearch(last.text) : undefined
  if (task) return { id, name: 'research', arguments: { task } }
  const sum = tools.includes('calculate') ? sumIn(last.text) : undefined
  if (sum) return { id, name: 'calculate', arguments: { expression: sum.expression } }
  if (!tools.includes('clock') || !asksForTime(last.text)) return undefined
  const zone = zoneIn(last.text)
  return { id, name: 'clock', arguments: zone === undefined ? {} : { zone } }
}
