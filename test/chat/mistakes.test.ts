import { createChat, direct, memoryStorage, remote, TidemarkError } from 'tidemark'
import { createChatHandler } from 'tidemark/server'
import { scriptedModel } from 'tidemark/testing'
import { expect, test } from 'vitest'

const runtime = () => direct({ model: scriptedModel([]) })

/** What somebody without types, or with a wrong guess, writes. */
const mistakes: readonly [string, () => unknown, string][] = [
  ['no options', () => Reflect.apply(createChat, null, []), 'storage'],
  ['no storage', () => Reflect.apply(createChat, null, [{ runtime: runtime() }]), 'storage'],
  ['no runtime', () => Reflect.apply(createChat, null, [{ storage: memoryStorage() }]), 'runtime'],
  ['no url', () => Reflect.apply(remote, null, [{}]), 'url'],
  ['no model', () => Reflect.apply(direct, null, [{}]), 'model'],
  ['a server without a store', () => Reflect.apply(createChatHandler, null, [{}]), 'store'],
  [
    'a server without a model',
    () => Reflect.apply(createChatHandler, null, [{ store: { transact() {} } }]),
    'model',
  ],
]

test.each(mistakes)('%s: the error names the field', (_, make, field) => {
  expect(make).toThrow(TidemarkError)
  expect(make).toThrow(new RegExp(`^${field}: expected`))
})

test.each([undefined, null, 5, {}, [{ type: 'text' }], [null]])(
  'sending %j is refused by name',
  async (input) => {
    const chat = createChat({ storage: memoryStorage(), runtime: runtime() })
    const session = chat.session('s')
    await expect(Reflect.apply(session.send, session, [input])).rejects.toThrow(/^input(\[0\])?: expected/)
    expect(session.get().messages).toEqual([])
    await chat.close()
  },
)
