/** A sum, and what it comes to. */
export interface Sum {
  expression: string
  value: number
}

type Token = number | '+' | '-' | '*' | '/' | '^' | '(' | ')'

const SIGNS: Readonly<Record<string, string>> = { '×': '*', '·': '*', x: '*', '÷': '/', '−': '-' }
const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '^': (a, b) => a ** b,
}
/** From weakest to strongest. */
const LEVELS: readonly string[] = ['+-', '*/', '^']

/** The first sum in a text that has an operator in it, worked out; undefined where there is none, or no result. */
export function sumIn(text: string): Sum | undefined {
  for (const [found] of text.matchAll(/[\d(-][\d\s.,()+\-−*/^×·÷x]*[\d)]/g)) {
    const expression = found.trim()
    // A hyphen alone may be a range or a date.
    const value = /[+*/^×·÷x]|\s[-−]\s/.test(expression) ? work(expression) : undefined
    if (value !== undefined) return { expression, value }
  }
  return undefined
}

function work(expression: string): number | undefined {
  const tokens = tokensOf(expression)
  if (!tokens) return undefined
  const value = level(tokens, 0)
  return tokens.length === 0 && value !== undefined && Number.isFinite(value) ? tidy(value) : undefined
}

/** Without the dust of binary fractions: 0.1 + 0.2 is 0.3. */
const tidy = (value: number): number => Number(value.toPrecision(12))

function tokensOf(expression: string): Token[] | undefined {
  const tokens: Token[] = []
  for (const word of expression.replaceAll(/\s|,(?=\d{3}\b)/g, '').match(/\d+(?:\.\d+)?|./g) ?? []) {
    const sign = SIGNS[word] ?? word
    if (/^\d/.test(word)) tokens.push(Number(word))
    else if (sign === '+' || sign === '-' || sign === '*' || sign === '/') tokens.push(sign)
    else if (sign === '^' || sign === '(' || sign === ')') tokens.push(sign)
    else return undefined
  }
  return tokens
}

/** What the tokens come to that belong to this level or a stronger one; takes them away. */
function level(tokens: Token[], depth: number): number | undefined {
  const signs = LEVELS[depth]
  if (signs === undefined) return atom(tokens)
  let value = level(tokens, depth + 1)
  for (let sign = tokens[0]; typeof sign === 'string' && signs.includes(sign); sign = tokens[0]) {
    tokens.shift()
    // Powers are worked out from the right.
    const other = level(tokens, sign === '^' ? depth : depth + 1)
    if (value === undefined || other === undefined) return undefined
    value = OPERATORS[sign]?.(value, other)
  }
  return value
}

function atom(tokens: Token[]): number | undefined {
  const token = tokens.shift()
  if (typeof token === 'number') return token
  if (token === '-') {
    const value = atom(tokens)
    return value === undefined ? undefined : -value
  }
  if (token !== '(') return undefined
  const value = level(tokens, 0)
  return tokens.shift() === ')' ? value : undefined
}
