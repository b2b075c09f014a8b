import { expectOption } from '../lib/expect.ts'
import type { AssistantBlock, Message, TextBlock, ToolCallBlock } from '../message/schema.ts'
import {
  changedItem,
  type Draft,
  type DraftItem,
  mapItems,
  type Note,
  type Policy,
  remembered,
  type Space,
} from './draft.ts'
import { hashOf } from './hash.ts'
import { cards, emails, type Finder, keys, phones, type Span } from './secrets.ts'

/** What is replaced in one session, and by what. */
interface Vault {
  readonly sessionId: string
  /** Secret, by kind and key, to its placeholder. */
  readonly placeholders: Map<string, string>
  /** Placeholder to secret, as it was first written. */
  readonly secrets: Map<string, string>
  /** An item without its secrets, made once. */
  copyOf(item: DraftItem, space: Space): DraftItem
}

export interface RedactionOptions {
  /** What is a secret. @default keys, cards, emails and phones */
  finders?: readonly Finder[]
}

/** Replaces secrets in what a model gets to see. The history keeps them. */
export interface Redaction {
  /** For `assembleContext`: messages and notes. Comes first, so that a secret has the same placeholder in every call. */
  readonly policy: Policy
  /** Notes that later policies made of texts from elsewhere, such as a memory or a summary. */
  readonly notes: Policy
  /** The text with placeholders in place of secrets, the same ones as in every context of that session. */
  conceal(sessionId: string, text: string): string
  /** The text with the secrets in place of the placeholders of that session: for display, on this device. */
  reveal(sessionId: string, text: string): string
}

function newVault(sessionId: string, finders: readonly Finder[]): Vault {
  const vault: Vault = {
    sessionId,
    placeholders: new Map(),
    secrets: new Map(),
    copyOf: remembered((item, space) => {
      const tally = { count: 0 }
      const message = concealMessage(item.message, (text) => conceal(vault, finders, text, tally))
      const { count } = tally
      return count === 0 ? item : { ...changedItem(item, message, 'redacted', space), redacted: count }
    }),
  }
  return vault
}

const NUMBERS = 99_999
const PLACEHOLDERS = /\[[^[\]]+-\d+\]/g

/**
 * A placeholder whose number comes from the secret and its session: what a summary or an answer was told of stays what it was
 * after a reload, in another tab and on another branch, whatever was said first there.
 */
function placeholderOf(vault: Vault, { kind, key = (text) => text }: Finder, secret: string): string {
  const name = `${kind}:${key(secret)}`
  const known = vault.placeholders.get(name)
  if (known !== undefined) return known
  const at = (number: number) => `[${kind}-${(number % NUMBERS) + 1}]`
  let number = Number.parseInt(hashOf(`${vault.sessionId} ${name}`).slice(0, 8), 16)
  while (vault.secrets.has(at(number))) number++
  const placeholder = at(number)
  vault.placeholders.set(name, placeholder)
  vault.secrets.set(placeholder, secret)
  return placeholder
}

/** What was replaced, and how often. */
interface Tally {
  count: number
}

function conceal(vault: Vault, finders: readonly Finder[], text: string, tally: Tally): string {
  const found: (Span & { by?: Finder })[] = []
  for (const by of finders)
    for (const span of by.find(text)) if (span.end > span.start) found.push({ ...span, by })
  if (found.length === 0) return text
  // A number in a placeholder is nobody's.
  for (const { 0: one, index } of text.matchAll(PLACEHOLDERS))
    if (vault.secrets.has(one)) found.push({ start: index, end: index + one.length })
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  let made = ''
  let done = 0
  for (const { start, end, by } of found) {
    // Of two that overlap, the first; what the second has beyond it goes, too.
    if (start < done) {
      done = Math.max(done, end)
      continue
    }
    const part = text.slice(start, end)
    made += text.slice(done, start) + (by ? placeholderOf(vault, by, part) : part)
    done = end
    if (by) tally.count++
  }
  return made + text.slice(done)
}

/** Numbers may be secrets, too, from this size on: cards and phones. */
const LONG_NUMBER = 1e7

/** JSON with every text in it replaced, names of fields too; the very same where none is. */
function concealJson(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (typeof value === 'number' && value >= LONG_NUMBER) {
    const text = String(value)
    const made = replace(text)
    return made === text ? value : made
  }
  if (Array.isArray(value)) {
    const made = value.map((one) => concealJson(one, replace))
    return made.every((one, at) => one === value[at]) ? value : made
  }
  if (typeof value !== 'object' || value === null) return value
  const before: readonly (readonly [string, unknown])[] = Object.entries(value)
  const made = before.map(([name, one]) => [replace(name), concealJson(one, replace)] as const)
  const isSame = made.every(([name, one], at) => name === before[at]?.[0] && one === before[at]?.[1])
  return isSame ? value : Object.fromEntries(made)
}

function concealCall(block: ToolCallBlock, replace: (text: string) => string): ToolCallBlock {
  const made = { ...block }
  if (block.arguments !== undefined) made.arguments = concealJson(block.arguments, replace)
  if (block.rawArguments !== undefined) made.rawArguments = replace(block.rawArguments)
  return made.arguments === block.arguments && made.rawArguments === block.rawArguments ? block : made
}

function concealText(block: TextBlock, replace: (text: string) => string): TextBlock {
  const text = replace(block.text)
  if (text === block.text) return block
  // What was signed or cited is not this text any more.
  const { signature: _proof, ...rest } = block
  return { ...rest, text }
}

/** The message without its secrets. Thinking that holds one is left out: it could not be replayed changed. */
function concealMessage(message: Message, replace: (text: string) => string): Message {
  const plain = <B extends { type: string }>(block: B | TextBlock): B | TextBlock =>
    isText(block) ? concealText(block, replace) : block
  switch (message.role) {
    case 'system':
      return { ...message, content: message.content.map((block) => concealText(block, replace)) }
    case 'user':
      return { ...message, content: message.content.map(plain) }
    case 'tool':
      return { ...message, content: message.content.map(plain) }
    case 'assistant':
      return { ...message, content: message.content.flatMap((block) => concealSaid(block, replace)) }
  }
}

const isText = (block: { type: string }): block is TextBlock => block.type === 'text'

function concealSaid(block: AssistantBlock, replace: (text: string) => string): AssistantBlock[] {
  if (block.type === 'text') return [concealText(block, replace)]
  if (block.type === 'toolCall') return [concealCall(block, replace)]
  return block.type === 'thinking' && replace(block.text) !== block.text ? [] : [block]
}

/**
 * Replaces what is secret by placeholders such as `[email-48213]`: in texts, in the arguments of calls, in results and in notes.
 * The same secret has the same placeholder, in each session its own. Only what was replaced since the page was loaded can be
 * revealed (`session.context()` sees to that). Instructions and tools stay as they are: they are the app's own words. What only its provider can read stays, too
 * (blocks of type `other`).
 */
export function createRedaction({ finders }: RedactionOptions = {}): Redaction {
  const all = finders ?? [...keys(), ...cards(), ...emails(), ...phones()]
  const areFinders = all.every(({ kind, find }) => typeof kind === 'string' && typeof find === 'function')
  expectOption(areFinders, 'finders: expected a list of finders, such as [...keys(), ...emails()]')
  const vaults = new Map<string, Vault>()
  const vaultOf = (sessionId: string): Vault => {
    const known = vaults.get(sessionId) ?? newVault(sessionId, all)
    vaults.set(sessionId, known)
    return known
  }
  const concealNote = (note: Note, vault: Vault, { estimate }: Space): Note => {
    const tally = { count: 0 }
    const text = conceal(vault, all, note.text, tally)
    return tally.count === 0
      ? note
      : { ...note, text, tokens: estimate.text(text) + 1, redacted: tally.count }
  }
  const concealNotes = (draft: Draft, space: Space): Draft => {
    // Without any message nobody knows whose session it is; a secret is one all the same.
    const { sessionId = '' } = draft.turns[0]?.items[0]?.message ?? draft.loose[0] ?? {}
    const notes = draft.notes.map((note) => concealNote(note, vaultOf(sessionId), space))
    return notes.every((note, at) => note === draft.notes[at]) ? draft : { ...draft, notes }
  }
  const concealItems = (draft: Draft, space: Space): Draft => {
    const hidden = (item: DraftItem) => vaultOf(item.message.sessionId).copyOf(item, space)
    const made = mapItems(draft, hidden)
    // What no turn has a place for may become a note.
    const loose = draft.loose.map((message) => hidden({ message, as: 'itself', tokens: 0 }).message)
    return loose.every((message, at) => message === draft.loose[at]) ? made : { ...made, loose }
  }
  return {
    policy: { name: 'redact', apply: (draft, space) => concealNotes(concealItems(draft, space), space) },
    notes: { name: 'redactNotes', apply: concealNotes },
    conceal: (sessionId, text) => conceal(vaultOf(sessionId), all, text, { count: 0 }),
    reveal(sessionId, text) {
      const secrets = vaults.get(sessionId)?.secrets
      return secrets ? text.replace(PLACEHOLDERS, (one) => secrets.get(one) ?? one) : text
    },
  }
}
