import type { Store } from '../lib/cell.ts'
import { errorFrom, TidemarkError } from '../lib/errors.ts'
import { createJsonReader } from '../lib/partial-json.ts'
import { conform, type OutputOf, type Schema } from '../lib/standard-schema.ts'
import type { Message } from './schema.ts'
import { textOf } from './text.ts'

/** Where JSON begins in a text: models put fences and words around what they were asked for. */
const START = /[{[]/

/**
 * The JSON that a text is, or that stands in it between words or fences; or why there is none. Of the latter only objects and
 * lists are found.
 */
export function jsonIn(text: string): { value: unknown } | { problem: string } {
  const inner = text.slice(text.search(START), Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1)
  let problem = 'there is no JSON in it'
  for (const part of [text, inner])
    try {
      return { value: JSON.parse(part) }
    } catch (thrown) {
      if (part.trim() !== '')
        problem = `it is no JSON: ${String(thrown instanceof Error ? thrown.message : thrown)}`
    }
  return { problem }
}

/** The value in a text, as a schema lets it through, or what is wrong with it in words. */
export async function valueIn(
  text: string,
  schema: Schema,
): Promise<{ value: unknown } | { problem: string }> {
  const found = jsonIn(text)
  return 'problem' in found ? found : conform(schema, found.value)
}

/**
 * The value that an answer is, checked and typed by the schema that it was asked for with: after `send(…, { output: schema })`.
 * It is read from the message's text, so also after a reload. Rejects with `TidemarkError`: `invalid-output` where the text does
 * not fit, saying what and where; the message's own error where it failed; `aborted` where it was cut off.
 *
 * @example
 * const { answer } = await session.send('Two names for a boat', { output: Names })
 * const { names } = await readOutput(await answer, Names)
 */
export async function readOutput<const S extends Schema>(message: Message, schema: S): Promise<OutputOf<S>> {
  const { status, error } = message
  if (error) throw errorFrom(error)
  if (status !== 'completed') throw new TidemarkError('aborted', `the answer is ${status}`)
  const found = await valueIn(textOf(message), schema)
  if ('problem' in found) throw new TidemarkError('invalid-output', found.problem)
  // What a schema lets through is of its type.
  return found.value as OutputOf<S>
}

/** A value that is still being written: any part of it may be missing, its last text may go on. */
export type Unfinished<T> = T extends readonly (infer Item)[]
  ? Unfinished<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Unfinished<T[Key]> }
    : T

/** What `liveOutput` shows. A new object with each change. */
export interface LiveOutput<T = unknown> {
  /**
   * As far as it is written; undefined until there is something. It grows in place: copy what must stay as it is. Checked by
   * nobody, whatever its type says.
   */
  value: Unfinished<T> | undefined
}

/**
 * The value of an answer while it is written: of an object or a list, what is there of it. No text is read twice, only what was
 * added; where the answer is begun anew, so is the value.
 *
 * @param store of the answer: `session.message(id)`
 * @example
 * const live = liveOutput<Recipe>(session.message(answerId))
 * live.subscribe(() => show(live.get().value))
 */
export function liveOutput<T = unknown>(store: Store<Message | undefined>): Store<LiveOutput<T>> {
  let known: Message | undefined
  let reader = createJsonReader()
  // What was read, and how much of it stands before the value.
  let read = ''
  let live: LiveOutput<T> = { value: undefined }

  function look(): LiveOutput<T> {
    const message = store.get()
    if (message === known) return live
    const text = message ? textOf(message) : ''
    // Only a change that is more than one piece more may have changed what was read before.
    const isGrown = known !== undefined && message?.status === 'streaming' && message.rev === known.rev
    known = message
    if (text.length < read.length || (!isGrown && !text.startsWith(read))) {
      reader = createJsonReader()
      read = ''
    }
    const added = text.slice(read.length)
    const from = reader.value() === undefined ? added.search(START) : 0
    if (added === '' && live.value === reader.value()) return live
    read = text
    if (from >= 0) reader.push(added.slice(from))
    live = { value: reader.value() as Unfinished<T> | undefined }
    return live
  }
  return { get: look, subscribe: (listener) => store.subscribe(listener) }
}
