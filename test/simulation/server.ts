import Sqlite, { type Database, type Statement } from 'better-sqlite3'
import type { Model, ModelContext } from '../../src/adapters/contract.ts'
import type { Env } from '../../src/lib/env.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import type { ChatHandler, ChatHandlerOptions } from '../../src/server/chat/options.ts'
import type { HistoryStore } from '../../src/server/ports.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { type ScriptPiece, scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Chance } from '../../src/testing/sim/chance.ts'
import type { Actor, Schedule } from '../../src/testing/sim/schedule.ts'
import type { Tool } from '../../src/turn/tool.ts'
import { createBackup } from './backup.ts'
import { callsBy, createTools, type OnExecution } from './tools.ts'

/** One process that serves the database. */
interface Process {
  actor: Actor
  handler: ChatHandler
  /** Statements until it dies; infinite while nobody wants that. */
  life: { left: number }
}

export interface ServerOptions {
  /** Puts a fault of the bench's own between the handler and its store. */
  wrap?: (store: HistoryStore, env: Env) => HistoryStore
  /** Who answers in a process, and what may be called there. @default a model that only talks */
  cast?: (actor: Actor) => { model: Model; tools: readonly Tool[] }
  onError(error: unknown): void
  /** A process has died. */
  onDeath(actor: Actor): void
  /** Hears of each statement before and after it is carried out, and says whether the process dies there. */
  point?: (sql: string, when: 'before' | 'after') => boolean
  /** What the model says instead of something different each time. */
  say?: (context: ModelContext) => ScriptPiece[]
  /** Options of the handler besides. */
  handler?: Partial<ChatHandlerOptions>
  /** Whether the model has tools. */
  tools?: boolean
  /** Puts another tool in the place of each. */
  tool?: (tool: Tool) => Tool
  onExecution?: OnExecution
  onRestore?: () => void
}

/** The server's side of the world: one database, and processes that come and go. */
export interface ServerSide {
  readonly db: Database
  /** Who answers. */
  process(): Process
  /** What the model was asked, by the text of the question. */
  readonly asked: string[]
  answer(request: Request): Promise<Response>
  /** Dies, with what it was doing. */
  kill(): void
  /** Dies at the n-th statement from now. */
  killAt(statements: number): void
  /** Another process takes over while this one stands still; it wakes later. */
  replace(): void
  /** Keeps a copy of the database as it is. */
  backup(): void
  /** What `restore` would lose: sessions, and the number of the last event that it would leave of each. */
  losses(): Map<string, number>
  /**
   * Puts the database back to its copy, under a new process, but for sessions that began or were deleted since. Returns the
   * others.
   */
  restore(): string[]
  /** Serves again, if it does not; whoever stood still goes on. */
  heal(): void
}

const WORDS = ['the ', 'tide ', 'comes ', 'in 🌊 ', 'and ', 'goes.\n\n', 'é̂ ', '👩‍👩‍👧 ']

/** What the model says: as different as models are. */
function say(chance: Chance, number: number): ScriptPiece[] {
  const pieces: ScriptPiece[] = []
  if (chance.happens(0.1)) pieces.push({ thinking: 'let me think about it' })
  pieces.push({ text: `answer ${number}: ` })
  for (let count = chance.int(8); count > 0; count--) pieces.push({ text: chance.pick(WORDS) })
  if (chance.happens(0.05)) pieces.push({ error: 'server' })
  return pieces
}

const textIn = ({ messages }: ModelContext): string => JSON.stringify(messages.at(-1)?.content ?? null)

/** A database that dies with its process: nothing of an open transaction stays. */
function mortal(
  db: Database,
  alive: () => boolean,
  count: (sql: string, when: 'before' | 'after') => void,
): Database {
  const guard = (sql: string, when: 'before' | 'after') => {
    count(sql, when)
    if (alive()) return
    if (db.inTransaction) db.exec('rollback')
    throw new Error('the process was killed')
  }
  const bound = <T extends object>(target: T, wrap: (name: string, value: unknown) => unknown): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name)
        const own = typeof value === 'function' ? value.bind(of) : value
        return wrap(String(name), own)
      },
    })
  const statement = (given: Statement, sql: string): Statement =>
    bound(given, (name, own) => {
      if (typeof own !== 'function') return own
      if (name === 'pluck' || name === 'raw') return (...args: unknown[]) => statement(own(...args), sql)
      if (name !== 'run' && name !== 'all' && name !== 'iterate') return own
      return (...args: unknown[]) => {
        guard(sql, 'before')
        const result: unknown = own(...args)
        guard(sql, 'after')
        return result
      }
    })
  return bound(db, (name, own) => {
    if (name !== 'prepare' || typeof own !== 'function') return own
    // All processes share the connection, which does not see changes of its own as others'.
    return (sql: string) =>
      statement(own(sql === 'pragma data_version' ? 'select total_changes()' : sql), sql)
  })
}

/** What the processes of one server share. */
interface Shared {
  schedule: Schedule
  options: ServerOptions
  db: Database
  chance: Chance
  tools: Chance
  asked: string[]
  started: number
}

function startProcess(shared: Shared): Process {
  const { schedule, options, db, chance, asked } = shared
  const actor = schedule.actor(`server${++shared.started}`)
  const env = schedule.env(actor)
  const alive = () => actor.state !== 'dead'
  const life = { left: Number.POSITIVE_INFINITY }
  let isUp = false
  const count = (sql: string, when: 'before' | 'after') => {
    if (!alive() || !isUp) return
    if (when === 'before') life.left--
    const dies = options.point?.(sql, when) ?? false
    if (life.left > 0 && !dies) return
    life.left = Number.POSITIVE_INFINITY
    schedule.kill(actor)
    options.onDeath(actor)
  }
  const store = sqliteStore(mortal(db, alive, count), { env, poll: 500 })
  const hesitates = () => !options.say && chance.happens(0.03)
  const pace = () => env.sleep(hesitates() ? 2_000 + chance.int(10_000) : chance.int(60))
  const answers = (context: ModelContext) => {
    const number = asked.push(textIn(context))
    const said = options.say?.(context) ?? say(chance, number)
    return options.tools
      ? [...said, ...callsBy(shared.tools, context.messages.at(-1)?.role === 'tool')]
      : said
  }
  const handler = createChatHandler({
    store: options.wrap?.(store, env) ?? store,
    ...(options.cast?.(actor) ?? { model: scriptedModel(answers, { chunkSize: 4, pace }) }),
    env,
    ...(options.tools && {
      tools: createTools(env.sleep, shared.tools, options.onExecution ?? (() => undefined)).map(
        options.tool ?? ((given) => given),
      ),
    }),
    authorize: (request) => request.headers.get('authorization') ?? 'default',
    limits: { requests: { max: 1e9, per: 1 }, queue: 100, feeds: 1_000, page: 3 + chance.int(40) },
    ...options.handler,
    onError: (error) => {
      if (alive()) options.onError(error)
    },
  })
  isUp = true
  return { actor, life, handler }
}

/** Lets a process look after what others left behind. */
function sweeps(schedule: Schedule, { handler, actor }: Process): void {
  const run = () => void handler.start().catch(() => undefined)
  schedule.post({ actor, label: 'start', run })
}

export function createServer(schedule: Schedule, options: ServerOptions): ServerSide {
  const db = new Sqlite(':memory:')
  const chance = schedule.chance.fork('model')
  const tools = schedule.chance.fork('tools')
  const shared: Shared = { schedule, options, db, chance, tools, asked: [], started: 0 }
  /** Those that others took over from: they stand still, or went on later. */
  const former: Process[] = []
  let current = startProcess(shared)
  const begin = () => {
    current = startProcess(shared)
    sweeps(schedule, current)
  }
  const end = ({ actor }: Process) => {
    schedule.kill(actor)
    options.onDeath(actor)
    if (db.inTransaction) db.exec('rollback')
  }
  const backup = createBackup(db)
  // Somebody has to see that a call has waited long enough.
  if (options.tools) sweeps(schedule, current)
  return {
    db,
    asked: shared.asked,
    process: () => current,
    answer: (request) => current.handler.fetch(request),
    kill: () => end(current),
    backup: backup.save,
    losses: backup.losses,
    restore() {
      for (const process of [...former.splice(0), current]) end(process)
      const ids = backup.restore()
      options.onRestore?.()
      begin()
      return ids
    },
    killAt(statements) {
      current.life.left = statements
    },
    replace() {
      if (current.actor.state === 'running') current.actor.state = 'frozen'
      former.push(current)
      begin()
    },
    heal() {
      current.life.left = Number.POSITIVE_INFINITY
      for (const { actor } of former) if (actor.state === 'frozen') actor.state = 'running'
      if (current.actor.state === 'dead') begin()
    },
  }
}
