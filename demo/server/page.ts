import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build, type InlineConfig } from 'vite'
import { root } from '../../scripts/bootstrap.mjs'
import { doorAliases } from '../../scripts/doors.mjs'

/** What the page is made of, from the project's root. */
const SOURCES = ['index.html', 'package-lock.json', 'src', 'demo/page', 'demo/public', 'demo/server/page.ts']

/** Where built pages are kept: beside the packages they were built with, out of the way of git. */
const CACHE = join(root, 'node_modules', '.cache', 'tidemark-demo')

const DAY = 24 * 60 * 60 * 1000

async function filesIn(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path]
  const names = (await readdir(path)).sort()
  return (await Promise.all(names.map((name) => filesIn(join(path, name))))).flat()
}

/** A name for the present state of the sources: another state has another name. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of (await Promise.all(SOURCES.map((path) => filesIn(join(root, path))))).flat())
    hash
      .update(relative(root, file))
      .update('\0')
      .update(await readFile(file))
      .update('\0')
  return hash.digest('hex').slice(0, 16)
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Pages of yesterday's sources. */
async function dropOld(keep: string): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name)
    if (name !== keep && (await stat(path)).mtimeMs < Date.now() - DAY)
      await rm(path, { recursive: true, force: true })
  }
}

async function buildInto(outDir: string): Promise<void> {
  const { NODE_ENV } = process.env
  // What the builder goes by. A test runner has set its own, and the page would be React's slow development one.
  process.env.NODE_ENV = 'production'
  try {
    await build(buildOptions(outDir))
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
}

function buildOptions(outDir: string): InlineConfig {
  return {
    configFile: false,
    root,
    publicDir: 'demo/public',
    logLevel: 'warn',
    resolve: {
      // By its name, as a user does; from the source.
      alias: doorAliases(),
    },
    build: {
      outDir,
      emptyOutDir: true,
      target: ['chrome116', 'firefox115', 'safari16.4'],
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1000,
    },
  }
}

/** The folder of the built page. It is built once per state of the sources, by whoever asks first. */
export async function builtPage(): Promise<string> {
  const name = await fingerprint()
  const folder = join(CACHE, name)
  if (await exists(folder)) return folder
  await mkdir(CACHE, { recursive: true })
  await dropOld(name)
  // Apart, and moved when whole: another process may be building the same, or be killed half-way.
  const own = await mkdtemp(join(CACHE, 'building-'))
  try {
    await buildInto(own)
    await rename(own, folder)
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  }
  return folder
}
