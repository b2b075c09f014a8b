// Finds a Chromium, or gets one. Until `ensureChromium` looks for Playwright's, nothing here needs a package.
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { root } from './bootstrap.mjs'

/** What a Chromium is started with: no sandbox (root, containers), no GPU, and no talk with anyone but the tests' servers. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
]

/** @type {Partial<Record<NodeJS.Platform, (env: NodeJS.ProcessEnv) => string[]>>} */
const usualPaths = {
  darwin: (env) =>
    ['/Applications', join(env.HOME ?? '', 'Applications')].flatMap((folder) => [
      join(folder, 'Chromium.app/Contents/MacOS/Chromium'),
      join(folder, 'Google Chrome.app/Contents/MacOS/Google Chrome'),
      join(folder, 'Microsoft Edge.app/Contents/MacOS/Microsoft Edge'),
    ]),
  win32: (env) =>
    [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA]
      .filter((folder) => folder !== undefined)
      .flatMap((folder) => [
        join(folder, 'Chromium\\Application\\chrome.exe'),
        join(folder, 'Google\\Chrome\\Application\\chrome.exe'),
        join(folder, 'Microsoft\\Edge\\Application\\msedge.exe'),
      ]),
}

/**
 * Where a Chromium could be, best first: the one asked for alone, else those on PATH, in the usual places, and Playwright's.
 * @param {NodeJS.ProcessEnv} env
 * @param {NodeJS.Platform} platform
 * @returns {string[]}
 */
export function chromiumCandidates(env = process.env, platform = process.platform) {
  if (env.TIDEMARK_CHROMIUM) return [env.TIDEMARK_CHROMIUM]
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => folder !== '')
  const onPath = folders.flatMap((folder) =>
    names.map((name) => join(folder, platform === 'win32' ? `${name}.exe` : name)),
  )
  return [...onPath, ...(usualPaths[platform]?.(env) ?? []), ...playwrightChromium()]
}

/** @returns {string[]} */
function playwrightChromium() {
  try {
    return [createRequire(import.meta.url)('playwright-core').chromium.executablePath()]
  } catch {
    // Not installed yet, or no build of Playwright for this system: then it is no candidate.
    return []
  }
}

/**
 * The first Chromium that exists, without starting it.
 * @returns {string | undefined}
 */
export function findChromium() {
  return chromiumCandidates().find((path) => existsSync(path))
}

/**
 * Whether a program answers as a Chromium: some distributions put a stub in its place.
 * @param {string} path
 * @returns {Promise<boolean>}
 */
function answers(path) {
  // On Windows `--version` opens a window.
  if (process.platform === 'win32') return Promise.resolve(existsSync(path))
  return new Promise((resolve) => {
    execFile(path, ['--version', '--no-sandbox'], { timeout: 20_000 }, (error, stdout) => {
      resolve(error === null && /\d+\.\d+\.\d+/.test(stdout))
    })
  })
}

async function findWorking() {
  for (const path of chromiumCandidates()) if (existsSync(path) && (await answers(path))) return path
  return undefined
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  return status === 0
}

function isDebianRoot() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/etc/os-release')) return false
  return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'))
}

/** @type {readonly { what: string, when: () => boolean, get: () => boolean }[]} */
const sources = [
  {
    what: "Debian's package (apt-get install chromium)",
    when: isDebianRoot,
    get: () =>
      run('apt-get', ['update']) && run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']),
  },
  {
    what: "Playwright's download (playwright-core install chromium)",
    when: () => true,
    get: () => {
      const withDeps = process.platform === 'linux' && process.getuid?.() === 0 ? ['--with-deps'] : []
      const cli = join(root, 'node_modules', 'playwright-core', 'cli.js')
      return run(process.execPath, [cli, 'install', ...withDeps, 'chromium'])
    },
  },
]

/**
 * A Chromium that starts: the one on the machine, else one that is installed now. Throws with all that was tried.
 * @returns {Promise<string>} its path, also set as TIDEMARK_CHROMIUM for child processes
 */
export async function ensureChromium() {
  const asked = process.env.TIDEMARK_CHROMIUM
  let path = await findWorking()
  if (asked && !path) throw new Error(`TIDEMARK_CHROMIUM is ${asked}, which is no Chromium that starts.`)
  const tried = ['one on this machine (TIDEMARK_CHROMIUM, PATH, the usual places)']
  for (const { what, when, get } of sources) {
    if (path) break
    if (!when()) continue
    tried.push(what)
    console.log(`No Chromium found; trying ${what}…`)
    if (get()) path = await findWorking()
  }
  if (!path) {
    throw new Error(
      `The tests need a Chromium and none could be had. Tried: ${tried.join('; ')}. Install one, or set TIDEMARK_CHROMIUM to its path.`,
    )
  }
  process.env.TIDEMARK_CHROMIUM = path
  return path
}
