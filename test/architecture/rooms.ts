/** The house as data: which room may see which, what is pure, and the few exceptions, each with its reason. */

export interface Room {
  /** Rooms it may import from. `chat (ports)` means the files of `chatPorts` alone. */
  sees: readonly string[]
  /** Nothing in it may reach time, chance, network, storage or the page. */
  pure: boolean
  /** Packages it may import. */
  packages: readonly string[]
}

const schemas = ['zod/mini']

export const rooms: Readonly<Record<string, Room>> = {
  lib: { sees: [], pure: true, packages: [...schemas, 'nanoid', 'eventsource-parser'] },
  message: { sees: ['lib'], pure: true, packages: schemas },
  protocol: { sees: ['lib', 'message'], pure: true, packages: schemas },
  context: { sees: ['lib', 'message'], pure: true, packages: schemas },
  adapters: { sees: ['lib', 'message', 'protocol', 'context'], pure: true, packages: schemas },
  turn: { sees: ['lib', 'message', 'protocol', 'context', 'adapters'], pure: false, packages: schemas },
  chat: { sees: ['lib', 'message', 'protocol', 'context'], pure: false, packages: schemas },
  memory: { sees: ['lib', 'message', 'context', 'adapters', 'chat (ports)'], pure: false, packages: schemas },
  telemetry: {
    sees: ['lib', 'message', 'context', 'adapters', 'turn', 'chat (ports)'],
    pure: false,
    packages: [...schemas, '@opentelemetry/api'],
  },
  runtime: {
    sees: ['lib', 'message', 'protocol', 'context', 'adapters', 'turn', 'chat (ports)'],
    pure: false,
    packages: schemas,
  },
  storage: { sees: ['lib', 'message', 'chat (ports)'], pure: false, packages: [...schemas, 'dexie'] },
  server: {
    sees: ['lib', 'message', 'protocol', 'context', 'adapters', 'turn'],
    pure: false,
    packages: [...schemas, 'better-sqlite3', 'kysely', 'node:*'],
  },
  bindings: { sees: ['lib', 'message', 'chat'], pure: false, packages: ['react'] },
  testing: {
    sees: [
      'lib',
      'message',
      'protocol',
      'context',
      'adapters',
      'turn',
      'chat',
      'memory',
      'telemetry',
      'runtime',
      'storage',
      'server',
      'bindings',
    ],
    pure: false,
    packages: schemas,
  },
}

/** What `chat (ports)` is: contracts, and pure functions on the rows they speak of. */
export const chatPorts: readonly string[] = [
  'src/chat/ports.ts',
  'src/chat/runtime-port.ts',
  'src/chat/types.ts',
  'src/chat/journal.ts',
  'src/chat/rows.ts',
]

/** Pure files in rooms that are not pure as a whole. The ports are among them. */
export const pureFiles: readonly string[] = [
  ...chatPorts,
  'src/chat/outbox.ts',
  'src/server/ports.ts',
  'src/turn/next.ts',
]

export interface Exception {
  file: string
  /** What it may do, as the rule names it. */
  allows: readonly string[]
  reason: string
}

/** Where time and chance may be reached. */
export const worldExceptions: readonly Exception[] = [
  {
    file: 'src/lib/env.ts',
    allows: ['Date.now', 'Math.random', 'setTimeout', 'clearTimeout'],
    reason: 'the door through which time and chance come in',
  },
  {
    file: 'src/testing/sim/schedule.ts',
    allows: ['setImmediate'],
    reason: 'lets everything run that waits for nothing; no time passes in it',
  },
  {
    file: 'src/testing/sim/network.ts',
    allows: ['setImmediate'],
    reason: 'waits in real time for what computes elsewhere (a digest), at the same virtual time',
  },
]

/** Where zod may be imported by another name. */
export const zodExceptions: readonly Exception[] = [
  {
    file: 'test/turn/schemas.test.ts',
    allows: ['zod'],
    reason:
      'its users write their tools with the whole of zod, which knows more of itself than the mini spelling',
  },
]

/** Functions longer than the limit, by file and name. */
export const lengthExceptions: readonly Exception[] = []

/** The only classes: what has to be an `instanceof`, or is one by nature. */
export const classes: readonly Exception[] = [
  { file: 'src/lib/errors.ts', allows: ['TidemarkError'], reason: 'an error has to be an Error' },
]

export const limits = { fileLines: 250, functionLines: 50 } as const
