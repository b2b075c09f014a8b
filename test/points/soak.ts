// One worker of `npm run test:soak -- --points`: tells every story once for each call of a port, or statement, of each side,
// before it and after it, and once for each fault of each operation of a disk. Takes every `step`-th of them, and says what it found as a line of JSON each.
import { broken, crashesOf, outagesOf, troubledBy } from './enumerate.ts'
import { DIRECT, STORIES } from './stories.ts'
import { tell } from './tell.ts'

const [first = 0, step = 1] = process.argv.slice(2).map(Number)

/** What a promise was rejected with that nobody looked at. */
const stray: unknown[] = []
process.on('unhandledRejection', (reason) => stray.push(reason))

const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`)

async function run(): Promise<void> {
  let seeds = 0
  let at = 0
  for (const [where, stories] of Object.entries({ remote: STORIES, direct: DIRECT }))
    for (const [name, story] of Object.entries(stories)) {
      const clean = await tell(story)
      const note = (problems: string[]) => {
        if (stray.length > 0) problems.push(`nobody caught ${stray.splice(0)}`)
        if (problems.length > 0) say({ failed: `${where}, ${name}: ${problems[0]}` })
        if (++seeds % 500 === 0) say({ seeds })
      }
      for (const outage of outagesOf(clean)) if (at++ % step === first) note(await troubledBy(story, outage))
      for (const side of ['client', 'server'] as const)
        for (const crash of crashesOf(side, clean, true))
          if (at++ % step === first) note(await broken(story, crash, clean.labels[side][crash.n - 1]))
    }
  say({ done: true, seeds })
}

run().catch((thrown: unknown) => {
  console.error(thrown)
  process.exitCode = 1
})
