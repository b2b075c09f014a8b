import { type Chat, sessionTool, type Tool, tool } from 'tidemark'
import * as z from 'zod/mini'
import { sumIn } from './stand-in/arithmetic.ts'

const Sum = z.object({ expression: z.string() })
const Place = z.object({ zone: z.optional(z.string()) })

/**
 * What the model may use, in the page and on the server alike: a calculator, a clock that has to be asked for, and a run of its
 * own that looks something up.
 * @param chat where such runs are
 */
export const toolsOf = (chat: () => Chat): readonly Tool[] => [
  tool({
    name: 'calculate',
    description: 'Works out a sum with + - * / ^ and brackets.',
    parameters: Sum,
    jsonSchema: z.toJSONSchema(Sum),
    idempotent: true,
    execute({ expression }) {
      const found = sumIn(expression)
      if (!found) throw new Error(`There is no sum in “${expression}”.`)
      return found.value
    },
  }),
  tool({
    name: 'clock',
    description: 'Tells the time and the day where the user is, or in a time zone such as Asia/Tokyo.',
    parameters: Place,
    jsonSchema: z.toJSONSchema(Place),
    idempotent: true,
    // Where somebody is can be told by their clock.
    needsApproval: true,
    execute: ({ zone }) =>
      new Date().toLocaleString('en-GB', {
        dateStyle: 'full',
        timeStyle: 'short',
        ...(zone !== undefined && { timeZone: zone }),
      }),
  }),
  sessionTool({
    name: 'research',
    description:
      'Has a question looked into, in a conversation of its own. Only where the user asks for that.',
    chat,
    maxDepth: 1,
  }),
]
