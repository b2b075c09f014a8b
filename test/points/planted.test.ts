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

test.each([
  'what is to be sent is not stored',
  'every fourth batch is said to be stored and is not',
  'what was sent stays in the outbox',
])('a crash at each point finds out that %s', async (fault) => {
  const story = STORIES['a question without a line, and then with one'] ?? { tell: async () => undefined }
  expect(await firstRed(story, fault)).toContain('dead')
})
