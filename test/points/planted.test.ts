import { expect, test } from 'vitest'
import { PLANTED } from '../simulation/planted.ts'
import { broken, crashesOf } from './enumerate.ts'
import { STORIES, type Story } from './stories.ts'
import { tell } from './tell.ts'

// What a planted fault does to promises that nobody looks at is its own affair.
process.on('unhandledRejection', () => undefined)

/** What is wrong with a story first, with a fault of the bench's own, when its page dies at each point in turn. */
async function firstRed(story: Story, fault: string): Promise<string> {
  const spoilt: Story = { ...story, planted: () => PLANTED[fault]?.(() => undefined) ?? {} }
  const clean = await tell(story)
  for (const crash of crashesOf('client', clean, false)) {
    const [problem] = await broken(spoilt, crash, clean.labels.client[crash.n - 1])
    if (problem !== undefined) return problem
  }
  return ''
}

const SHORT = 'a question without a line, and then with one'

test.each([
  ['what is to be sent is not stored', SHORT],
  // Of a short story, the fourth batch may be one that nobody misses.
  ['every fourth batch is said to be stored and is not', 'an answer that is stopped, another one, and back'],
  ['what was sent stays in the outbox', SHORT],
])('a crash at each point finds out that %s', async (fault, name) => {
  const story = STORIES[name] ?? { tell: async () => undefined }
  expect(await firstRed(story, fault)).toContain('dead')
})
