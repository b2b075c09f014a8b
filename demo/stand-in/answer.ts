import * as z from 'zod/mini'
import { sumIn } from './arithmetic.ts'
import { asksForTime, wantsResearch } from './calls.ts'
import { type Topic, topics } from './topics.ts'

/** One message of the conversation, as text. */
export interface Said {
  role: string
  text: string
}

interface Question {
  text: string
  /** A number made of the whole conversation: the same one gets the same answer. */
  seed: number
  /** All messages, the question included. */
  all: readonly Said[]
  /** What the user asked before. */
  before: readonly string[]
}

const ADMISSIONS: readonly string[] = [
  'I am only a stand-in for a model: I run on this machine and I follow rules instead of thinking.',
  'Please take this for what it is: a local stand-in answers here, not a language model.',
  'A word of warning first: I am a stand-in. I read your question with a handful of rules, and that is all.',
]

/** The answer to a conversation, in Markdown. It depends on nothing else. */
export function answerTo(all: readonly Said[]): string {
  const asked = all.filter(({ role }) => role === 'user').map(({ text }) => text.trim())
  const text = asked.at(-1) ?? ''
  const question: Question = { text, seed: seedOf(all), all, before: asked.slice(0, -1) }
  for (const kind of KINDS) {
    const answer = kind(question)
    if (answer !== undefined) return answer
  }
  return essay(question)
}

/** The same in a few points, as JSON: `{ title, points }`. */
export function cardOf(all: readonly Said[]): string {
  const turn = all.slice(all.findLastIndex(({ role }) => role === 'user'))
  const asked = turn[0]?.text.trim() ?? ''
  const plain = answerTo(turn).replaceAll(/```[\s\S]*?```|^[|>#].*$|[*`]/gm, '')
  const points = plain
    .split(/\n\n/)
    .map((part) => /^.*?[.!?:](?=\s|$)/s.exec(part.trim())?.[0].replace(/:$/, '.') ?? '')
    .filter((point) => point.length > 20 && !point.startsWith('-'))
  return JSON.stringify({ title: asked.split('\n', 1)[0], points: points.slice(0, 4) })
}

/** Kinds of question, tried in this order. */
const KINDS: readonly ((question: Question) => string | undefined)[] = [
  rest,
  silence,
  research,
  clock,
  sum,
  tally,
  recall,
  greeting,
  known,
]

const seedOf = (all: readonly Said[]): number => {
  let hash = 2166136261
  for (const { text } of all)
    for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16777619)
  return hash >>> 0
}

/** One of several ways to say it, by the conversation. `turn` sets choices of one answer apart. */
const pick = (options: readonly string[], { seed }: Question, turn = 0): string =>
  options[((seed >>> (turn * 3)) + turn) % options.length] ?? ''

const quote = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return `> ${line.length > 160 ? `${line.slice(0, 159).trimEnd()}…` : line}`
}

/** A short remark that the earlier part of the conversation was read, too. */
function backward({ before }: Question): string {
  const last = before.at(-1)
  if (last === undefined) return ''
  const times = before.length === 1 ? 'once before' : `${before.length} times before`
  return `You have asked me ${times}; the last time it was:\n\n${quote(last)}\n\n`
}

/** The rest of an answer that was cut off, where somebody asks for it. */
function rest({ text, all }: Question): string | undefined {
  if (!text.startsWith('[continue]')) return undefined
  const said = all.at(-2)?.text ?? ''
  const whole = answerTo(all.slice(0, -2))
  return whole.startsWith(said) ? whole.slice(said.length) : whole
}

function silence({ text }: Question): string | undefined {
  return text === '' ? 'I see a message without words. I am a stand-in, and I can only read text.' : undefined
}

/** What a tool gave back, as the library spells it. */
const Result = z.union([z.object({ data: z.unknown() }), z.object({ error: z.string() })])

/** What came back from the run that looked into something, or why nothing did. */
function research({ text, all }: Question): string | undefined {
  const last = all.at(-1)
  if (!wantsResearch(text) || last?.role !== 'tool') return undefined
  const { data } = z.safeParse(Result, JSON.parse(last.text))
  if (!data || 'error' in data)
    return `I had that looked into, and nothing came of it: ${data?.error ?? 'no word'}.`
  const [first = ''] = String(data.data)
    .split('\n\n')
    .filter((part) => !/^[#|`>]/.test(part))
  return `I had that looked into, in a conversation of its own. In short:\n\n${quote(first)}\n\nHow it came about, you can read there; I was only told the end of it.`
}

/** What the clock said, or why it could not be asked. */
function clock({ text, all }: Question): string | undefined {
  const last = all.at(-1)
  if (!asksForTime(text) || last?.role !== 'tool') return undefined
  const { data } = z.safeParse(Result, JSON.parse(last.text))
  if (data && 'error' in data && !data.error.includes('did not allow'))
    return `The clock could not say: ${data.error}. I am a stand-in, and have none of my own.`
  if (data && 'data' in data) return `It is **${String(data.data)}**, as far as your clock knows.`
  return 'I did not look at the clock, so I cannot say what time it is. I am a stand-in, and have none of my own.'
}

function sum(question: Question): string | undefined {
  const found = sumIn(question.text)
  if (!found) return undefined
  const { expression, value } = found
  const shown = value.toLocaleString('en-GB', { maximumFractionDigits: 10 })
  const half = (value / 2).toLocaleString('en-GB', { maximumFractionDigits: 10 })
  return [
    `**${expression} = ${shown}**`,
    `${pick(ADMISSIONS, question)} Sums, however, I can do: brackets first, then powers, then products, then the rest.`,
    `| | |\n| --- | ---: |\n| the result | ${shown} |\n| half of it | ${half} |\n| in powers of ten | ${value.toExponential(3)} |`,
    `Ask me another, such as \`${(question.seed % 90) + 10} * (${(question.seed % 7) + 2} + 3)\`.`,
  ].join('\n\n')
}

function tally({ text, all, before }: Question): string | undefined {
  if (!/how many (messages|questions|turns)|count (the|my|our) (messages|questions)/i.test(text))
    return undefined
  const counts = new Map<string, number>()
  for (const { role } of all) counts.set(role, (counts.get(role) ?? 0) + 1)
  const rows = [...counts].map(([role, count]) => `| ${role} | ${count} |`)
  return [
    `I have been shown **${all.length} messages**, yours of a moment ago included.`,
    ['| Role | Messages |', '| --- | ---: |', ...rows].join('\n'),
    before.length === 0
      ? 'This was your first question. I am a stand-in and keep nothing: what I know of a conversation is what the request brings.'
      : `Your first question was:\n\n${quote(before[0] ?? '')}\n\nI am a stand-in and keep nothing: all of this came with the request.`,
  ].join('\n\n')
}

function recall({ text, before }: Question): string | undefined {
  if (
    !/\b(remember|recall)\b|\b(did|have) (i|we) (just )?(say|said|ask|asked|write|talk)|(earlier|previous) question/i.test(
      text,
    )
  )
    return undefined
  if (before.length === 0)
    return 'Nothing, so far: this is the first thing you say to me. Ask me something, and then ask me again what it was. I am a stand-in, but the conversation comes along with every request.'
  const list = before.map((earlier, i) => `${i + 1}. ${quote(earlier).slice(2)}`)
  return `You said, in this order:\n\n${list.join('\n')}\n\nI did not remember that; a stand-in keeps nothing. The whole conversation comes along with every request, which is also how real models do it.`
}

function greeting(question: Question): string | undefined {
  if (!/^(hi|hello|hey|good (morning|evening|afternoon)|moin|hallo)\b[\s!.,]*$/i.test(question.text))
    return undefined
  return [
    `${pick(['Hello!', 'Good to see you.', 'Hello there.'], question)} ${pick(ADMISSIONS, question, 1)}`,
    'There are a few things that I do know something about:',
    topics.map(({ title }) => `- ${title}`).join('\n'),
    'I can also do sums, such as `12 * (3 + 4)`, and count the messages I have seen. Anything else gets an answer that is long enough to be stopped, or reloaded, in the middle.',
  ].join('\n\n')
}

function known(question: Question): string | undefined {
  const topic: Topic | undefined = topics.find(({ about }) => about.test(question.text))
  if (!topic) return undefined
  return `## ${topic.title}\n\n${backward(question)}${topic.text}\n\n---\n\n*${pick(ADMISSIONS, question)}*`
}

const APPROACHES: readonly string[] = [
  '1. **Say what you want to know.** One sentence; if it needs two, there are two questions.\n2. **Write down what you know already.** The answer often begins there.\n3. **Find out what would change your mind.** What cannot be wrong cannot be right, either.\n4. **Try the smallest case.** It costs a minute, and it shows whether you are on the right path.',
  '1. **Take it apart.** A question of this kind usually has a part about facts and a part about taste.\n2. **Settle the facts first.** They can be looked up, and they make the rest smaller.\n3. **Name two answers, not one.** Comparing is easier than judging.\n4. **Decide when you will stop looking.** Otherwise you will not.',
  '1. **Start from the end.** What would you do differently if you knew?\n2. **Work backwards from there.** What would you need for it, and what for that?\n3. **Cross out what you have.** What is left is the real question.\n4. **Ask somebody who disagrees with you.** It is the shortest way to what you overlooked.',
]

const CODES: readonly string[] = [
  "```ts\nconst session = chat.session('welcome')\nconst { id, saved, answer } = await session.send(question)\nconsole.log(id, saved) // on 'disk' before anything is sent\nconsole.log(await answer)\n```",
  "```ts\nconst stop = session.subscribe(() => {\n  const { messages, status, connection } = session.get()\n  render(messages, status === 'running', connection)\n})\n```",
  '```ts\nsession.message(id).onAppend(({ text }) => {\n  // Only what is new, for those who append to the page.\n  output.append(text)\n})\n```',
]

const NEXT: readonly string[] = [
  '- reload this page while an answer is coming in;\n- stop one in the middle, and ask for another;\n- ask me what you said first.',
  '- open a second tab and watch both of them grow;\n- go offline, write something, and come back;\n- ask me for a sum.',
  '- change the switch from `remote` to `direct`;\n- edit your question and look at the branches;\n- ask me how many messages I have seen.',
]

/** The words of a question that carry it: the longest ones, in their order. */
function keywords(text: string): string[] {
  const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]{4,}/gu) ?? [])]
  const longest = [...words].sort((a, b) => b.length - a.length).slice(0, 4)
  return words.filter((word) => longest.includes(word))
}

/** What there is to say about any question whatever. */
function essay(question: Question): string {
  const { text } = question
  const words = text.split(/\s+/).length
  const found = keywords(text)
  const rows = found.map((word) => `| ${word} | ${word.length} | ${text.toLowerCase().indexOf(word) + 1} |`)
  const table = ['| Word | Letters | Begins at |', '| --- | ---: | ---: |', ...rows].join('\n')
  const topic = found.map((word) => `*${word}*`).join(', ') || 'it'
  return [
    `## ${pick(['About your question', 'What I make of it', 'An answer, of sorts'], question)}`,
    quote(text),
    `${pick(ADMISSIONS, question)} I did read what you wrote: ${words} ${words === 1 ? 'word' : 'words'}, ${text.endsWith('?') ? 'put as a question' : 'not put as a question'}. What I cannot do is know anything about ${topic}. A real model in my place would answer now; I can only show you that everything around it works.`,
    backward(question).trimEnd(),
    found.length > 0 ? `### What stands out\n\n${table}` : '',
    `### How one might go about it\n\n${pick(APPROACHES, question, 1)}`,
    `### What happened on the way here\n\nYour message was stored in this browser before it was sent. It then went over HTTP to a server, which passed it on to me through the same code that would have called a provider. I answer in small pieces, at about the pace of a model, and each piece that you see has been numbered and written down. In code, that is:\n\n${pick(CODES, question, 2)}`,
    `### Things to try\n\n${pick(NEXT, question, 3)}`,
    pick(
      [
        'That is all I have.',
        'I hope that was at least long enough.',
        'Thank you for asking a machine this simple.',
      ],
      question,
      4,
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
