import { describe, expect, test } from 'vitest'
import { pins } from '../../src/context/notes.ts'
import { createRedaction } from '../../src/context/redact.ts'
import { emails, finder } from '../../src/context/secrets.ts'
import { toolMessage, userMessage } from '../support/messages.ts'
import { sent } from './sent.ts'

const email = 'me@example.com'

describe('redaction', () => {
  test('keeps a placeholder over reloads, tabs and branches, whatever was said first there', () => {
    const before = createRedaction()
    before.conceal('s1', 'first@example.com')
    const told = before.conceal('s1', email)
    const after = createRedaction()
    expect(after.conceal('s1', email)).toBe(told)
    after.conceal('s1', 'third@example.com')
    expect(after.reveal('s1', `sent to ${told}`)).toBe(`sent to ${email}`)
  })

  test('gives no two secrets one placeholder, however many there are', () => {
    const { conceal, reveal } = createRedaction()
    const many = Array.from({ length: 2_000 }, (_, at) => `a${at}@example.com`)
    const hidden = many.map((one) => conceal('s1', one))
    expect(new Set(hidden).size).toBe(many.length)
    expect(reveal('s1', hidden.join())).toBe(many.join())
  })

  test('is undone whatever a kind is called, and finds all that a pattern of one’s own finds', () => {
    const { conceal, reveal } = createRedaction({ finders: [finder('Customer id_2', /C-\d{3}/)] })
    const hidden = conceal('s1', 'C-123 and C-456')
    expect(hidden).toMatch(/^\[Customer id_2-\d+\] and \[Customer id_2-\d+\]$/)
    expect(reveal('s1', hidden)).toBe('C-123 and C-456')
  })

  test('sees no secret in a placeholder', () => {
    const redaction = createRedaction({ finders: [...emails(), finder('zip', /\d+/g)] })
    const hidden = redaction.conceal('s1', `${email} in 12345`)
    expect(redaction.conceal('s1', `${hidden} or 54321`)).toMatch(
      /^\[email-\d+\] in \[zip-\d+\] or \[zip-\d+\]$/,
    )
  })

  test('sends nothing where a finder fails', () => {
    const fails = finder('x', /x/g, () => {
      throw new Error('out of order')
    })
    const policies = [createRedaction({ finders: [fails] }).policy]
    expect(() => sent([userMessage('u1', 'x')], { policies })).toThrow('out of order')
  })

  test('hides what notes say where there is no message, and what a pin says whose place is gone', () => {
    const { policy } = createRedaction()
    const facts = pins({ facts: [`mail ${email}`] })
    expect(sent([], { policies: [facts, policy] }).system).toMatch(/^\[pinned\] mail \[email-\d+\]$/)
    const lost = toolMessage('t1', 'c0', {
      content: [{ type: 'text', text: `mail ${email}` }],
      metadata: { pinned: true },
    })
    const context = sent([lost, userMessage('u1')], { policies: [policy, pins()] })
    expect(context.system).toMatch(/^\[pinned\] clock: mail \[email-\d+\]$/)
  })
})
