import type { RuntimeHost } from '../chat/runtime-port.ts'
import { assembleContext } from '../context/assemble.ts'
import type { ContextView } from '../context/view.ts'
import { accepted, specsOf } from '../turn/run.ts'
import type { DirectOptions } from './direct.ts'
import { recordsOf } from './records.ts'

/** What the model would get to see now. */
export async function preview(
  { model, system, tools, call, context = assembleContext }: DirectOptions,
  host: RuntimeHost,
  sessionId: string,
  headId: string | null,
): Promise<ContextView> {
  const history = headId === null ? [] : await host.history(sessionId, headId)
  return context({
    // What something follows was dispatched, whatever the outbox has written of that so far.
    messages: history.map((message, at) => (at < history.length - 1 ? accepted(message) : message)),
    ...(system !== undefined && { system }),
    ...(tools?.length && { tools: specsOf(tools) }),
    ...{ sessionId, model, env: host.env, signal: new AbortController().signal },
    ...(call?.thinking && { thinking: call.thinking }),
    records: recordsOf(host.storage, sessionId),
    shared: recordsOf(host.storage, null),
    preview: true,
  })
}
