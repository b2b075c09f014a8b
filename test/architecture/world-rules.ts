import { pureFiles, rooms, worldExceptions } from './rooms.ts'
import type { Rule } from './rule.ts'
import { globalsOf, type Source } from './source.ts'

/** What pure code may name without declaring it: the language, and what computes without reaching out. */
const pureGlobals: ReadonlySet<string> = new Set([
  ...[
    'undefined',
    'NaN',
    'Infinity',
    'Number',
    'String',
    'Boolean',
    'BigInt',
    'Symbol',
    'Object',
    'Array',
    'Reflect',
  ],
  ...[
    'Map',
    'Set',
    'WeakMap',
    'WeakSet',
    'JSON',
    'RegExp',
    'Promise',
    'parseInt',
    'parseFloat',
    'isNaN',
    'isFinite',
  ],
  ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'DOMException', 'AggregateError'],
  ...[
    'Uint8Array',
    'Uint8ClampedArray',
    'Int8Array',
    'Uint16Array',
    'Int16Array',
    'Uint32Array',
    'Int32Array',
  ],
  ...[
    'Float32Array',
    'Float64Array',
    'ArrayBuffer',
    'DataView',
    'TextDecoder',
    'TextEncoder',
    'atob',
    'btoa',
  ],
  ...[
    'URL',
    'URLSearchParams',
    'encodeURIComponent',
    'decodeURIComponent',
    'structuredClone',
    'AbortController',
  ],
])

/** Uses of a name that are pure although the name as a whole is not. */
const pureUses = /^(Math\.(?!random$)\w+|new Date\(…\)|Date\.(UTC|parse)|AbortSignal\.(any|abort))$/

const isPureUse = (name: string): boolean =>
  pureUses.test(name) || pureGlobals.has(name.replace(/^new /, '').replace(/[.[(].*$/, ''))

const isPure = ({ path, room }: Source): boolean =>
  pureFiles.includes(path) || (room !== null && rooms[room]?.pure === true)

/** Time and chance: everywhere in src/ they come by `Env`. A digest is neither. */
const timeOrChance =
  /^(new Date\(\)|Date|Date\.now|Date\[…\]|Math|Math\.random|Math\[…\]|performance\b.*|(?:new )?Temporal\b.*|crypto(?!\.subtle$).*|AbortSignal\.timeout|(?:set|clear)(?:Timeout|Interval)|setImmediate|(?:globalThis|window|self)\.(?:set|clear)(?:Timeout|Interval))$/

function problems(source: Source, isWrong: (name: string) => boolean): string[] {
  const allowed = worldExceptions.flatMap(({ file, allows }) => (file === source.path ? allows : []))
  return globalsOf(source)
    .filter(({ name }) => isWrong(name) && !allowed.includes(name))
    .map(({ name, line }) => `${source.path}:${line} uses ${name}`)
}

const purity: Rule = {
  says: 'pure rooms and files reach no network, clock, chance, timer, storage or page',
  check: (source) => (isPure(source) ? problems(source, (name) => !isPureUse(name)) : []),
  bad: [
    ['src/lib/a.ts', "export const load = () => fetch('x')"],
    ['src/lib/a.ts', 'export const now = () => Date.now()'],
    ['src/lib/a.ts', "export const now = () => Date['now']()"],
    ['src/message/a.ts', 'export const now = () => new Date()'],
    ['src/message/a.ts', 'const { random } = Math\nexport const r = random'],
    ['src/protocol/a.ts', 'const clock = Date\nexport const now = () => clock.now()'],
    ['src/protocol/a.ts', 'setTimeout(() => {}, 1)'],
    ['src/context/a.ts', 'export const id = () => crypto.randomUUID()'],
    ['src/adapters/a.ts', 'export const a = () => globalThis.fetch'],
    ['src/adapters/a.ts', 'export const a = () => localStorage.length + indexedDB.toString()'],
    ['src/adapters/a.ts', 'export const a = () => typeof window'],
    ['src/chat/ports.ts', 'export const wide = document.title'],
    ['src/turn/next.ts', 'export const s = () => AbortSignal.timeout(5)'],
    ['src/lib/other.ts', 'export const now = () => Date.now()'],
  ],
  good: [
    ['src/lib/a.ts', '// fetch, Date.now() and window\nexport const s = "setTimeout"'],
    [
      'src/lib/a.ts',
      'export type F = typeof fetch\nexport const f = (fetch: F, window: Window) => fetch(String(window))',
    ],
    ['src/lib/a.ts', 'export const day = (ms: number) => new Date(ms).toISOString() + Math.max(1, 2)'],
    ['src/lib/a.ts', 'export const o = { fetch: 1, now() { return this.fetch } }'],
    ['src/lib/env.ts', 'export const now = () => Date.now()'],
    ['src/storage/a.ts', 'export const a = () => indexedDB'],
  ],
}

const oneClock: Rule = {
  says: 'time and chance come in by Env alone, in every room',
  check: (source) => (source.room === null ? [] : problems(source, (name) => timeOrChance.test(name))),
  bad: [
    ['src/chat/a.ts', 'export const now = () => Date.now()'],
    ['src/server/a.ts', 'export const at = () => new Date().toISOString()'],
    ['src/runtime/a.ts', 'export const r = () => Math.random()'],
    ['src/runtime/a.ts', 'export const s = () => AbortSignal.timeout(1000)'],
    ['src/storage/a.ts', 'setInterval(() => {}, 1)'],
    ['src/storage/a.ts', 'globalThis.setTimeout(() => {}, 1)'],
    ['src/chat/a.ts', 'export const id = () => crypto.randomUUID()'],
  ],
  good: [
    ['src/chat/a.ts', "import type { Env } from '../lib/env.ts'\nexport const now = (env: Env) => env.now()"],
    ['demo/a.ts', 'export const now = () => Date.now()'],
    ['src/server/a.ts', "export const hash = (bytes: Uint8Array) => crypto.subtle.digest('SHA-256', bytes)"],
  ],
}

const silence: Rule = {
  says: 'the library never writes to the console',
  check: (source) => (source.room === null ? [] : problems(source, (name) => /^console\b/.test(name))),
  bad: [
    ['src/server/a.ts', "console.log('x')"],
    ['src/chat/a.ts', 'export const log = console'],
  ],
  good: [['src/chat/a.ts', 'export const f = (console: { log(s: string): void }) => console.log("x")']],
}

export const worldRules: readonly Rule[] = [purity, oneClock, silence]
