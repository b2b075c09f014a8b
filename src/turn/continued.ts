import type { AssistantDraft, CallOptions, Model, ModelContext, ModelEvent } from '../adapters/contract.ts'
import {
  type AssistantMessage,
  type Message,
  SCHEMA_VERSION,
  type TextBlock,
  type UserMessage,
} from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { callOptionsOf } from './output.ts'
import { cutIn, type Run } from './run.ts'

/** What stands before the note that asks a model to go on. */
const CONTINUE_MARK = '[continue]'

/** How a model goes on from the text of an answer that was cut off. */
export interface Continued {
  text: string
  /** The history with that answer at its end. */
  messages: readonly Message[]
  /** What is sent beside what a context makes of it. */
  asked(context: ModelContext): ModelContext
}

/** Whether the text can be the beginning of the answer: together with thinking, or with a shape, it is refused. */
const canPrefill = ({ capabilities }: Model, { thinking = 'none', output }: CallOptions = {}): boolean =>
  capabilities?.prefill === true && thinking === 'none' && !output

/** How the next answer goes on from another, where it is to. */
export function continuedIn(run: Run): Continued | undefined {
  const answer = cutIn(run)
  if (!answer) return undefined
  const prefills = canPrefill(run.options.model, callOptionsOf(run))
  // A beginning may not end in white space; what follows brings it.
  const text = prefills ? textOf(answer).trimEnd() : textOf(answer)
  const { id, sessionId, parentId, createdAt, updatedAt } = answer
  const common = { sessionId, status: 'completed', createdAt, updatedAt, v: SCHEMA_VERSION } as const
  const said: AssistantMessage = { ...common, id, parentId, role: 'assistant', content: [block(text)] }
  const note: UserMessage = {
    ...common,
    id: 'continue',
    parentId: id,
    role: 'user',
    content: [
      block(
        `${CONTINUE_MARK}\nYour answer was cut off. Go on exactly where it ends. Do not repeat or introduce anything.`,
      ),
    ],
  }
  return {
    text,
    messages: [...run.history, said],
    asked: (context) => (prefills ? context : { ...context, messages: [...context.messages, note] }),
  }
}

const block = (text: string): TextBlock => ({ type: 'text', text })

/** What a model says, behind the text that it goes on from, if any: that is told once there is something behind it. */
export function behind(
  text: string | undefined,
  events: AsyncIterable<ModelEvent>,
): AsyncIterable<ModelEvent> {
  return text === undefined ? events : shifted(text, events)
}

async function* shifted(text: string, events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  let begun = false
  for await (const event of events) {
    const says = 'index' in event
    if (!begun && (says || event.type === 'done')) yield { type: 'text', index: 0, delta: text }
    begun ||= says
    if (says) yield { ...event, index: event.index + 1 }
    else if (event.type === 'done') yield { ...event, message: withText(text, event.message) }
    else if (event.type === 'error' && event.message.content.length > 0)
      yield { ...event, message: withText(text, event.message) }
    else yield event
  }
}

const withText = (text: string, message: AssistantDraft): AssistantDraft => ({
  ...message,
  content: [block(text), ...message.content],
})
