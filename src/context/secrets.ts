/** A part of a text, in UTF-16 units. */
export interface Span {
  start: number
  end: number
}

/** Knows one kind of secret when it sees it. Must take time in proportion to the text, whatever the text is. */
export interface Finder {
  /** What stands in the placeholder, such as `email`. */
  readonly kind: string
  find(text: string): Iterable<Span>
  /** What makes two ways to write a secret the same one. @default the text itself */
  key?(secret: string): string
}

const all = (pattern: RegExp): RegExp => (pattern.global ? pattern : new RegExp(pattern, `${pattern.flags}g`))

/**
 * A finder of what a pattern finds, everywhere in a text, and `isReal` agrees to. The pattern must not be able to go back and forth: begin it
 * at a border (`(?<!\w)`) and bound what repeats.
 */
export const finder = (
  kind: string,
  pattern: RegExp,
  isReal: (secret: string) => boolean = () => true,
  key?: (secret: string) => string,
): Finder => ({
  kind,
  *find(text) {
    for (const { 0: secret, index } of text.matchAll(all(pattern)))
      if (isReal(secret)) yield { start: index, end: index + secret.length }
  },
  ...(key && { key }),
})

const digitsOf = (text: string): string => text.replace(/\D/g, '')

/**
 * How keys and tokens of common vendors begin, and what follows; by their own documentation and the public rules of secret
 * scanners.
 */
const KEYS: readonly string[] = [
  // OpenAI, Anthropic, OpenRouter, DeepSeek and others who took over the form
  'sk-[\\w-]{20,}',
  // Google
  'AIza[\\w-]{35}',
  'ya29\\.[\\w-]{20,}',
  // AWS
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  // GitHub, GitLab
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_\\w{22,}',
  'gl(?:pat|dt|rt)-[\\w-]{20,}',
  // Slack
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  // Stripe
  '[rs]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=]{16,}',
  // Hugging Face, Groq, xAI, Perplexity, Replicate
  'hf_[A-Za-z0-9]{30,}',
  'gsk_[A-Za-z0-9]{20,}',
  'xai-[A-Za-z0-9]{20,}',
  'pplx-[A-Za-z0-9]{20,}',
  'r8_[A-Za-z0-9]{30,}',
  // npm, PyPI, SendGrid, DigitalOcean, Shopify
  'npm_[A-Za-z0-9]{36}',
  'pypi-[\\w-]{50,}',
  'SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}',
  'do[opr]_v1_[a-f0-9]{64}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  // Telegram
  '\\d{8,10}:[\\w-]{35}',
  // JSON Web Tokens, whoever issues them
  'eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]*',
]

const PEM_BEGIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g
const PEM_END = 'PRIVATE KEY-----'

/** Private keys in PEM; one whose end is missing goes to the end of the text. */
const pem: Finder = {
  kind: 'key',
  *find(text) {
    let done = 0
    for (const { 0: begin, index } of text.matchAll(PEM_BEGIN)) {
      if (index < done) continue
      const end = text.indexOf(PEM_END, index + begin.length)
      done = end === -1 ? text.length : end + PEM_END.length
      yield { start: index, end: done }
    }
  },
}

/** API keys and tokens of the common vendors, bearer tokens, private keys, passwords in addresses. */
export const keys = (): readonly Finder[] => [
  pem,
  finder('key', new RegExp(`(?<![\\w-])(?:${KEYS.join('|')})`, 'g')),
  // At the server that takes it, a bearer token is a key.
  finder('key', /(?<=\bBearer )[\w.~+/-]{20,}=*/gi),
  finder('key', /(?<=:\/\/[^\s:/@]{1,64}:)[^\s:/@]{1,128}(?=@)/g),
]

/** Sum of digits by Luhn's rule, which the numbers of cards keep. */
function isLuhn(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, twice = false; at >= 0; at--, twice = !twice) {
    const digit = digits.charCodeAt(at) - 48
    sum += twice ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}

/** Numbers of cards by brand: how they begin, and how long they are (ISO/IEC 7812; Visa, Mastercard, Amex, Diners, Discover, JCB, UnionPay). */
const BRANDS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [19, 16, 13]],
  [/^(?:5[1-5]|2[2-7])/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|[68])/, [14]],
  [/^(?:6(?:011|4[4-9]|5)|62|35(?:2[89]|[3-8]))/, [19, 18, 17, 16]],
]

/** Digits, with at most one space or hyphen between two. */
const DIGITS = /\d(?:[ -]?\d){12,}/g

/** Where in a run of digits the `count`th from `start` ends; -1 where that is not the end of a group. */
function endOf(run: string, start: number, count: number): number {
  let left = count
  for (let at = start; at < run.length; at++) {
    const isDigit = run[at] !== ' ' && run[at] !== '-'
    if (isDigit && --left === 0) return /\d/.test(run[at + 1] ?? '') ? -1 : at + 1
  }
  return -1
}

function cardAt(run: string, start: number): number {
  const beginning = digitsOf(run.slice(start, start + 8))
  const lengths = BRANDS.find(([begins]) => begins.test(beginning))?.[1] ?? []
  for (const length of lengths) {
    const end = endOf(run, start, length)
    if (end !== -1 && isLuhn(digitsOf(run.slice(start, end)))) return end
  }
  return -1
}

/** Numbers of cards: a brand's beginning and length, and Luhn's sum; with spaces or hyphens or without. */
export const cards = (): readonly Finder[] => [
  {
    kind: 'card',
    key: digitsOf,
    *find(text) {
      for (const { 0: run, index } of text.matchAll(DIGITS))
        for (let at = 0; at < run.length; at++) {
          const isStart =
            /\d/.test(run[at] ?? '') && !/\d/.test((at === 0 ? text[index - 1] : run[at - 1]) ?? '')
          const end = isStart ? cardAt(run, at) : -1
          if (end === -1) continue
          yield { start: index + at, end: index + end }
          at = end - 1
        }
    },
  },
]

const EMAIL = /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])/gi

/** Addresses of mail. */
export const emails = (): readonly Finder[] => [
  finder('email', EMAIL, undefined, (text) => text.toLowerCase()),
]

/** Numbers of phones: with a country's prefix, or as they are written in North America, China and much of Europe. */
export const phones = (): readonly Finder[] => {
  const enough = (text: string) => {
    const { length } = digitsOf(text)
    return length >= 8 && length <= 15
  }
  return [
    finder('phone', /(?<![\w+])\+\d[\d ().-]{6,20}\d(?!\d)/g, enough, digitsOf),
    finder('phone', /(?<![\w.+-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])/g, enough, digitsOf),
    finder('phone', /(?<![\w.+-])1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?![\w-])/g, enough, digitsOf),
    finder('phone', /(?<![\w.+-])\(?0\d{2,4}\)?[ /-]\d{3,4}[ -]?\d{3,5}(?![\w-])/g, enough, digitsOf),
  ]
}
