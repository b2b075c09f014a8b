import { expectOption } from '../lib/expect.ts'
import { type Finder, finder } from './secrets.ts'

const digitsOf = (text: string): string => text.replace(/\D/g, '')

/** The sum of the digits of a text, each times its weight. */
const weighted = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * Number(digits[at] ?? 0), 0)

const CN_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
const isChinese = (id: string): boolean =>
  '10X98765432'[weighted(id, CN_WEIGHTS) % 11] === id[17]?.toUpperCase()

const descending = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, at) => from - at)
const check11 = (digits: string, from: number): number =>
  ((weighted(digits, descending(from, 2)) * 10) % 11) % 10
const isBrazilian = (text: string): boolean => {
  const digits = digitsOf(text)
  return check11(digits, 10) === Number(digits[9]) && check11(digits, 11) === Number(digits[10])
}

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE'
const isSpanish = (text: string): boolean => {
  const number = text.toUpperCase().replace(/[XYZ](?=\d)/, (letter) => String('XYZ'.indexOf(letter)))
  return DNI_LETTERS[Number(digitsOf(number)) % 23] === number.at(-1)
}

/** The remainder by 97 of a number of any length, its letters read as 10 to 35 (ISO 7064). */
function mod97(text: string): number {
  let rest = 0
  for (const sign of text)
    for (const digit of String(Number.parseInt(sign, 36))) rest = (rest * 10 + Number(digit)) % 97
  return rest
}
const isIban = (text: string): boolean => {
  const plain = text.replaceAll(' ', '').toUpperCase()
  return mod97(plain.slice(4) + plain.slice(0, 4)) === 1
}
const isFrench = (text: string): boolean => {
  // Departments of Corsica are 2A and 2B: 19 and 18 in the sum.
  const plain = text.replaceAll(' ', '').toUpperCase().replace('2A', '19').replace('2B', '18')
  return 97 - mod97(plain.slice(0, 13)) === Number(plain.slice(13))
}

/** Numbers by which a state knows its people, and those of bank accounts; each by its form and, where it has one, its check digit. */
export type NationalId = 'us' | 'cn' | 'gb' | 'fr' | 'es' | 'br' | 'iban'

const FINDERS: Readonly<Record<NationalId, () => Finder>> = {
  /** Social security: no 000, 666 or 9xx, no group of zeros. */
  us: () =>
    finder(
      'id',
      /(?<![\w-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/g,
      undefined,
      digitsOf,
    ),
  /** The 18 digits of the resident identity card (GB 11643). */
  cn: () => finder('id', /(?<!\w)[1-9]\d{5}(?:18|19|20)\d{9}[\dXx](?!\w)/g, isChinese),
  /** National insurance. */
  gb: () => finder('id', /(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D](?!\w)/g),
  /** Social security (NIR), with its key. */
  fr: () => finder('id', /(?<!\w)[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\w)/g, isFrench),
  /** DNI and NIE. */
  es: () => finder('id', /(?<!\w)(?:\d{8}|[XYZxyz]\d{7})-?[A-Za-z](?!\w)/g, isSpanish),
  /** CPF. */
  br: () => finder('id', /(?<!\w)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)/g, isBrazilian, digitsOf),
  /** Bank accounts (ISO 13616). */
  iban: () => finder('iban', /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?(?!\w)/g, isIban),
}

/** Finders of national ids. @default all that are known */
export const nationalIds = (
  of: readonly NationalId[] = ['us', 'cn', 'gb', 'fr', 'es', 'br', 'iban'],
): readonly Finder[] =>
  of.map((one) => {
    expectOption(Object.hasOwn(FINDERS, one), `of: expected some of ${Object.keys(FINDERS)}, got ${one}`)
    return FINDERS[one]()
  })
