import { describe, expect, test } from 'vitest'
import { contentOf, hear, newPartial } from '../../src/turn/partial.ts'

describe('a call that is heard', () => {
  test('is told for what it is from its first event, also where the provider’s own server makes it', () => {
    const partial = newPartial('m1')
    const call = { id: 'srv_1', name: 'web_search', server: true, signature: '{"type":"server_tool_use"}' }
    const delta = hear(partial, { type: 'toolCall', phase: 'start', index: 0, ...call })
    expect(delta).toMatchObject({ index: 0, block: { type: 'toolCall', ...call } })
    hear(partial, { type: 'toolCall', phase: 'delta', index: 0, delta: '{"q"' })
    expect(contentOf(partial)).toEqual([{ type: 'toolCall', ...call, rawArguments: '{"q"' }])
  })
})
