import { describe, expect, test } from 'vitest'
import { nationalIds } from '../../src/context/national-ids.ts'
import { pins } from '../../src/context/notes.ts'
import { createRedaction } from '../../src/context/redact.ts'
import { cards, emails, type Finder, finder, keys, phones } from '../../src/context/secrets.ts'
import { textOf } from '../../src/message/text.ts'
import { assistantMessage, deepFreeze, toolCall, toolMessage, userMessage } from '../support/messages.ts'
import { sent } from './sent.ts'

/** What is found in a text. */
const found = (finders: readonly Finder[], text: string): string[] =>
  finders.flatMap((one) => [...one.find(text)].map(({ start, end }) => text.slice(start, end)))

const letters = (count: number) => 'aB3'.repeat(count).slice(0, count)

describe('keys', () => {
  test.each([
    `sk-proj-${letters(40)}`,
    `sk-ant-api03-${letters(80)}`,
    `AIza${letters(35)}`,
    `AKIA${'A1'.repeat(8)}`,
    `ghp_${letters(36)}`,
    `github_pat_${letters(40)}`,
    `glpat-${letters(20)}`,
    `xoxb-${letters(24)}`,
    `sk_live_${letters(24)}`,
    `hf_${letters(34)}`,
    `gsk_${letters(40)}`,
    `xai-${letters(40)}`,
    `npm_${letters(36)}`,
    `SG.${letters(22)}.${letters(43)}`,
    `123456789:${letters(35)}`,
    `eyJ${letters(20)}.eyJ${letters(20)}.${letters(20)}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${letters(64)}\n-----END RSA PRIVATE KEY-----`,
  ])('like %s are found, and nothing around them', (key) => {
    expect(found(keys(), `the key: ${key}, keep it`)).toEqual([key])
  })

  test('in headers and addresses are found', () => {
    expect(found(keys(), `Authorization: Bearer ${letters(32)}`)).toEqual([letters(32)])
    expect(found(keys(), 'postgres://me:hunter2@db/x')).toEqual(['hunter2'])
  })

  test.each([
    'task-force-one-two-three-four-five',
    'disk-usage',
    'https://example.com/a:b',
    'a risk-free trial-version-number-twelve',
  ])('are not seen in %s', (text) => {
    expect(found(keys(), text)).toEqual([])
  })
})

describe('cards', () => {
  test.each([
    '4111111111111111',
    '4111 1111 1111 1111',
    '5555-5555-5555-4444',
    '378282246310005',
    '30569309025904',
    '6011111111111117',
  ])('%s is one', (card) => {
    expect(found(cards(), `card ${card}.`)).toEqual([card])
  })

  test('are found after and before other numbers', () => {
    expect(found(cards(), '12 4111 1111 1111 1111 99')).toEqual(['4111 1111 1111 1111'])
  })

  test.each(['4111111111111112', '1764506400000', '9999999999999995', '41111111111111110'])(
    '%s is none',
    (text) => {
      expect(found(cards(), text)).toEqual([])
    },
  )
})

test.each(['a.b+c@example.co.uk', 'x_y@mail.example.com'])('%s is an address', (email) => {
  expect(found(emails(), `邮箱是${email}，`)).toEqual([email])
})

test.each(['a@b', '@example.com', 'a@b..com'])('%s is none', (text) => {
  expect(found(emails(), text)).toEqual([])
})

test.each([
  '+41 79 123 45 67',
  '+1 (415) 555-0100',
  '415-555-0100',
  '(415) 555-0100',
  '13812345678',
  '020 7946 0958',
  '0171 1234567',
])('%s is a phone', (phone) => {
  expect(found(phones(), `call ${phone} now`)).toContain(phone)
})

test.each([
  '2026-05-03',
  '2026-05-03T06:15:00+02:00',
  '1764506400000',
  '12.5',
  'v1.2.3',
  '192.168.100.200',
  '1-2-3',
])('%s is no phone', (text) => {
  expect(found(phones(), text)).toEqual([])
})

test.each([
  ['us', '123-45-6789', '000-45-6789'],
  ['cn', '11010519491231002X', '110105194912310021'],
  ['gb', 'QQ 12 34 56 C'.replace('QQ', 'AB'), 'DD123456C'],
  ['fr', '1 84 12 76 451 089 46', '1 84 12 76 451 089 47'],
  ['es', '12345678Z', '12345678A'],
  ['br', '529.982.247-25', '529.982.247-26'],
  ['iban', 'DE89 3704 0044 0532 0130 00', 'DE88 3704 0044 0532 0130 00'],
] as const)('of %s, %s is an id and %s is none', (country, id, other) => {
  expect(found(nationalIds([country]), `id ${id}.`)).toEqual([id])
  expect(found(nationalIds([country]), `id ${other}.`)).toEqual([])
})

describe('redaction', () => {
  const email = 'me@example.com'
  const card = '4111 1111 1111 1111'
  const messages = deepFreeze([
    userMessage('u1', `I am ${email}, card ${card}`),
    assistantMessage('a1', '', {
      content: [
        { type: 'thinking', text: `the card ${card}`, signature: 'x' },
        { type: 'text', text: `Hello ${email}`, signature: 'y' },
        toolCall('c1', { arguments: { to: email, nested: [{ card: 4111111111111111 }], n: 7 } }),
        toolCall('c2', { arguments: { a: 1 } }),
      ],
    }),
    toolMessage('t1', 'c1', { content: [{ type: 'text', text: JSON.stringify({ sent: email }) }] }),
    toolMessage('t2', 'c2'),
    userMessage('u2', 'and?'),
  ])

  const placeholder = (secret: string, session = 's1') => createRedaction().conceal(session, secret)
  const [email1, card1] = [placeholder(email), placeholder(card)]

  test('replaces in texts, arguments and results alike, the same secret by the same placeholder, and counts', () => {
    expect([email1, card1]).toEqual([
      expect.stringMatching(/^\[email-\d{1,5}\]$/),
      expect.stringMatching(/^\[card-\d{1,5}\]$/),
    ])
    const { policy } = createRedaction()
    const context = sent(messages, { policies: [policy] })
    expect(textOf(context.messages[0] ?? { content: [] })).toBe(`I am ${email1}, card ${card1}`)
    expect(context.messages[1]?.content).toEqual([
      { type: 'text', text: `Hello ${email1}` },
      toolCall('c1', { arguments: { to: email1, nested: [{ card: card1 }], n: 7 } }),
      toolCall('c2', { arguments: { a: 1 } }),
    ])
    expect(textOf(context.messages[2] ?? { content: [] })).toBe(`{"sent":"${email1}"}`)
    expect(context.messages[4]).toBe(messages[4])
    expect(context).toMatchObject({ redacted: 7, policies: ['redact'] })
    expect(context.included[0]?.changes).toEqual(['redacted'])
  })

  test('replaces names of fields, too: of arguments, as of results', () => {
    const call = assistantMessage('a1', '', {
      content: [toolCall('c1', { arguments: { roles: { [email]: 'owner' }, kept: 1 } })],
    })
    const context = sent([userMessage('u1'), call, toolMessage('t1', 'c1')], {
      policies: [createRedaction().policy],
    })
    const given = { roles: { [email1]: 'owner' }, kept: 1 }
    expect(context.messages[1]?.content).toEqual([toolCall('c1', { arguments: given })])
  })

  test('is undone for display, in the session it was done in', () => {
    const redaction = createRedaction()
    sent(messages, { policies: [redaction.policy] })
    expect(redaction.reveal('s1', `sent to ${email1} and [email-0]`)).toBe(`sent to ${email} and [email-0]`)
    expect(redaction.reveal('s2', email1)).toBe(email1)
    expect(redaction.conceal('s2', email)).not.toBe(email1)
    const both = redaction.conceal('s1', 'other@example.com and ME@example.com')
    expect(both).toBe(`${placeholder('other@example.com')} and ${email1}`)
  })

  test('hides what notes say, too', () => {
    const { policy } = createRedaction()
    const context = sent(messages, {
      system: `ask ${email}`,
      policies: [pins({ facts: [`mail ${email}`] }), policy],
    })
    // Instructions are the app's own words.
    expect(context.system).toBe(`ask ${email}\n\n[pinned] mail ${email1}`)
  })

  test('takes finders of one’s own, and what overlaps is gone whole', () => {
    const { conceal } = createRedaction({ finders: [finder('name', /Ada L/g), finder('word', /Lovelace/g)] })
    expect(conceal('s1', 'Ada Lovelace wrote')).toMatch(/^\[name-\d+\] wrote$/)
  })

  // Were any of it quadratic, this would take minutes.
  test.each([
    'sk-',
    'eyJ',
    'eyJaaaaaaaaa.',
    'a@',
    'a.',
    '1 ',
    '4111 ',
    '+1',
    '-----BEGIN PRIVATE KEY-----',
    '(0',
    '12-',
    'A1 ',
    '://a:',
    'Bearer ',
    'a',
    '0',
    ' ',
  ])('takes time in proportion to a text of many "%s"', (piece) => {
    const { conceal } = createRedaction({
      finders: [...keys(), ...cards(), ...emails(), ...phones(), ...nationalIds()],
    })
    expect(conceal('s1', piece.repeat(Math.ceil(300_000 / piece.length))).length).toBeGreaterThan(0)
  })
})
