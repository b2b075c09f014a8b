import type { Change } from '../../src/chat/ports.ts'
import { failure } from '../../src/turn/result.ts'
import type { Planted } from './scenes.ts'

/** A mistake, made on purpose. `hit` notes each time that it is made. */
type Plant = (hit: () => void) => Planted

const isToolRun = (change: Change): boolean => change.type === 'record' && change.record.kind === 'toolRun'

/** Every planted fault, by what is wrong. */
export const PLANTED: Readonly<Record<string, Plant>> = {
  'the record of an execution is ignored': (hit) => ({
    storage: (storage) => ({
      ...storage,
      commit(changes, options) {
        if (!changes.some(isToolRun)) return storage.commit(changes, options)
        hit()
        return storage.commit(changes, { ...options, guards: [] })
      },
    }),
  }),
  'a call is executed before that is stored': (hit) => ({
    storage: (storage) => ({
      ...storage,
      async commit(changes, options) {
        if (!changes.some(isToolRun)) return storage.commit(changes, options)
        hit()
        const late = async () => {
          for (let n = 0; n < 50; n++) await undefined
          return storage.commit(changes, options)
        }
        late().catch(() => undefined)
      },
    }),
  }),
  'a call that was cut off is taken for one that may be repeated': (hit) => ({
    tool(tool) {
      if (!tool.idempotent) hit()
      return { ...tool, idempotent: true }
    },
  }),
  'an approval is never asked for': (hit) => ({
    tool: (tool) => ({
      ...tool,
      async needsApproval() {
        hit()
        return false
      },
    }),
  }),
  'a call that was executed is said not to have been': (hit) => ({
    tool: ({ execute, ...tool }) => ({
      ...tool,
      ...(execute && {
        async execute(...given) {
          await execute(...given)
          hit()
          return failure('the tool was not executed')
        },
      }),
    }),
  }),
}
