import type { ToolSpec } from '../adapters/contract.ts'
import type { Env } from '../lib/env.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { expectNumber, expectOption } from '../lib/expect.ts'
import {
  conform,
  jsonSchemaOf,
  type OutputOf,
  type Schema,
  type StandardSchema,
} from '../lib/standard-schema.ts'
import type { ToolCallBlock } from '../message/schema.ts'
import { cut } from './cut.ts'
import { openGate, STOPPED } from './gate.ts'
import { failure, type ToolResult } from './result.ts'
import { type Served, type ServedCall, type ServingPage, serve } from './serve.ts'

/** What a tool is told beside its arguments. */
export interface ToolContext {
  /** Aborted when the run is stopped, and when the tool's time is over. */
  signal: AbortSignal
  /** As the provider gave it: unique only among the calls of one answer. */
  toolCallId: string
  /** The same each time this call is executed, and for no other: an idempotency key for what the tool does elsewhere. */
  key: string
  /** Where the call was made. */
  sessionId: string
  /** How often it was begun, this time included: more than once only after a crash. */
  attempt: number
}

/** What a tool of this schema is called with. */
export type Arguments<S extends Schema> = S extends StandardSchema ? OutputOf<S> : unknown

export interface ToolOptions<S extends Schema = Schema> {
  name: string
  description?: string
  /** The arguments: JSON Schema, or a schema of zod, Valibot, ArkType or the like. What does not fit is told to the model. */
  parameters: S
  /**
   * The arguments as JSON Schema, for the model, where the library of `parameters` cannot say that itself: `zod/mini`
   * (`z.toJSONSchema(schema)`), Valibot (`toJsonSchema(schema)`).
   */
  jsonSchema?: object
  /** Whether the provider is to hold the model to the schema, where it can. @default false */
  strict?: boolean
  /**
   * Executes a call. What it returns is JSON; throwing, or a promise that is broken, is told to the model as an error. Without
   * it a call waits until somebody brings its result: `session.toolResult`, or a page that has the tool.
   */
  execute?: (args: Arguments<S>, context: ToolContext) => unknown
  /**
   * Milliseconds after which the model is told that the tool did not answer.
   * @default 60_000, or none where the result comes from elsewhere
   */
  timeout?: number
  /** Whether somebody has to allow a call before it is executed: `session.approve`, `session.reject`. @default false */
  needsApproval?: boolean | ((args: Arguments<S>) => boolean | Promise<boolean>)
  /**
   * Milliseconds after which a call that nobody allowed is not executed any more. On a server the model is told up to half a
   * `lease` later. @default none
   */
  approvalTimeout?: number
  /**
   * Whether a call may be executed again that was cut off by a crash: that does no harm. Else the model is told that nobody
   * knows whether it was carried out. @default false
   */
  idempotent?: boolean
  /** Tokens of a result, as estimated, that the model gets to read; the whole is in the message's `details`. @default 2_000 */
  maxTokens?: number
}

/** What a call is executed with, or what the model is told instead. */
export type Checked = { args: unknown } | { refused: ToolResult }

/** A function the model may call, as `tool` makes it. */
export interface Tool {
  readonly spec: ToolSpec
  /** Whether a call may be executed again that was cut off. */
  readonly idempotent: boolean
  /** Milliseconds for which a call waits to be allowed; absent: for ever. */
  readonly approvalTimeout?: number | undefined
  /** Milliseconds for which a call waits for a result from elsewhere; absent: for ever. */
  readonly resultTimeout?: number | undefined
  /** Whether a call may be executed. Never rejects. */
  check(call: ToolCallBlock): Promise<Checked>
  /** A result that comes from elsewhere, as the model reads it. */
  result(given: { data?: unknown; error?: string | undefined }): ToolResult
  /** Whether somebody has to allow a call with the arguments that `check` gave. Rejects with what the tool's own code throws. */
  needsApproval(args: unknown): Promise<boolean>
  /** Executes a call with those arguments. Never rejects: whatever goes wrong is told to the model. */
  execute?(args: unknown, context: ToolContext, env: Pick<Env, 'sleep'>): Promise<ToolResult>
  /** Executes a call that a server leaves to this page, for `remote`. Here, so that who has no tools does not load it. */
  serve?(call: ServedCall, lent: ServingPage): Promise<Served | undefined>
}

/** Throws `invalid-request` where a model could not tell two tools apart. */
export function expectTools(tools: readonly Tool[] = []): void {
  const names = tools.map(({ spec }) => spec.name)
  for (const [at, name] of names.entries())
    expectOption(names.indexOf(name) === at, `tools: expected names of their own, got ${name} twice`)
}

const written = (ok: boolean, value: string, more = ''): string =>
  `{"ok":${ok},"${ok ? 'data' : 'error'}":${value}${more}}`

/** A result as the model reads it. What is too long is the beginning of its text, and says so. */
function resultOf(ok: boolean, value: unknown, maxTokens: number): ToolResult {
  // What returns nothing that JSON can say did its work all the same: null stands for it.
  let json: string
  try {
    json = JSON.stringify(value) ?? 'null'
  } catch (thrown) {
    return failure(`the tool was executed, but what it returned is no JSON: ${errorData(thrown).message}`)
  }
  const whole = typeof value === 'string' ? value : json
  const kept = cut(whole, maxTokens)
  if (kept === whole) return { text: written(ok, json), isError: !ok }
  const note = `,"cut":"these are the first ${kept.length} of ${whole.length} characters"`
  return { text: written(ok, JSON.stringify(kept), note), isError: !ok, details: JSON.parse(json) }
}

async function check({ parameters, maxTokens = 2_000 }: ToolOptions, call: ToolCallBlock): Promise<Checked> {
  if (call.arguments === undefined) {
    const isCut = call.rawArguments !== undefined
    const words = 'the arguments are not complete, valid JSON; the tool was not executed'
    return { refused: failure(isCut ? words : 'the call has no arguments') }
  }
  try {
    // A copy: what a tool does to its arguments is not what the model said.
    const found = await conform(parameters, structuredClone(call.arguments))
    if (!('problem' in found)) return { args: found.value }
    return { refused: resultOf(false, `the arguments do not fit: ${found.problem}`, maxTokens) }
  } catch (thrown) {
    return { refused: resultOf(false, errorData(thrown).message, maxTokens) }
  }
}

/** A call that was stopped is answered, too, since nobody knows how far it came. */
async function execute(
  { timeout = 60_000, maxTokens = 2_000 }: ToolOptions,
  work: NonNullable<ToolOptions['execute']>,
  args: unknown,
  context: ToolContext,
  env: Pick<Env, 'sleep'>,
): Promise<ToolResult> {
  const gate = openGate(context.signal)
  const timer = new AbortController()
  let ending = 'the run was stopped while the tool was executed'
  const onLate = () => {
    ending = `the tool did not answer within ${timeout} ms`
    gate.stop(new TidemarkError('timeout', ending))
  }
  env.sleep(timeout, timer.signal).then(onLate, () => undefined)
  try {
    const found = await gate.race(Promise.resolve(work(args, { ...context, signal: gate.signal })))
    if (found !== STOPPED) return resultOf(true, found, maxTokens)
    return failure(`${ending}; it may have had its effect`)
  } catch (thrown) {
    return resultOf(false, errorData(thrown).message, maxTokens)
  } finally {
    timer.abort()
    gate.close()
  }
}

/** What is waited for for ever has no end that could be written down: JSON has no infinity. */
const endOf = (timeout: number | undefined) => (timeout === Number.POSITIVE_INFINITY ? undefined : timeout)

/**
 * A tool. Its arguments have the type of its schema, and are checked before it is executed; its result is what the model
 * gets to read. Throws `invalid-request` where no model could call it.
 *
 * @example
 * tool({
 *   name: 'add',
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * })
 */
export function tool<const S extends Schema>(options: ToolOptions<S>): Tool {
  const { name, description, strict, parameters } = options
  expectOption(
    typeof name === 'string' && /^[\w.:-]{1,128}$/.test(name),
    `name: expected at most 128 letters, digits, or _ . : -, got ${JSON.stringify(name)}`,
  )
  expectOption(
    parameters instanceof Object,
    `parameters: expected JSON Schema or a Standard Schema of ${name}`,
  )
  const said = jsonSchemaOf(options.jsonSchema ?? parameters)
  expectOption(
    said !== undefined,
    `jsonSchema: expected JSON Schema; the schema in parameters of ${name} cannot say it itself`,
  )
  for (const field of ['timeout', 'approvalTimeout', 'maxTokens'] as const)
    expectNumber(field, options[field])
  // What is checked by a schema is of its type.
  const plain = options as ToolOptions
  const { execute: work, needsApproval: asks = false, timeout, approvalTimeout, idempotent = false } = plain
  const made: Tool = {
    spec: {
      name,
      parameters: said,
      ...(description !== undefined && { description }),
      ...(strict !== undefined && { strict }),
    },
    idempotent,
    approvalTimeout: endOf(approvalTimeout),
    check: (call) => check(plain, call),
    result: ({ data, error }) => resultOf(error === undefined, error ?? data, plain.maxTokens ?? 2_000),
    needsApproval: async (args) => (typeof asks === 'function' ? asks(args) : asks),
    ...(work
      ? {
          execute: (args, context, env) => execute(plain, work, args, context, env),
          serve: (call, lent) => serve(made, call, lent),
        }
      : { resultTimeout: endOf(timeout) }),
  }
  return made
}
