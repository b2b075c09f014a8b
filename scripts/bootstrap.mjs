// Runs before the first install: nothing here may import a package.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's root folder. Said in a way that an old Node understands, so that it reaches the check below. */
export const root = fileURLToPath(new URL('..', import.meta.url))

const oldestNode = /** @type {const} */ ([20, 19])

/**
 * Throws a readable error when this Node is too old for the tools.
 * @param {string} version such as `20.19.0`
 */
export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [wantMajor, wantMinor] = oldestNode
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return
  throw new Error(`tidemark's tools need Node ${wantMajor}.${wantMinor} or newer; this is Node ${version}.`)
}

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, devOptional?: boolean, peer?: boolean }} LockedPackage
 * @typedef {{ packages?: Record<string, LockedPackage> }} Lock
 */

/**
 * Why the installed packages are not those of the lock file; null when they are. Contents are compared, not times of
 * change: a fresh clone, a branch switched back and a restored cache all have misleading times.
 * @param {Lock} wanted package-lock.json
 * @param {Lock | null} installed node_modules/.package-lock.json, which npm writes last of all
 * @returns {string | null}
 */
export function whyInstall(wanted, installed) {
  if (!installed) return 'packages are not installed'
  for (const [path, locked] of Object.entries(wanted.packages ?? {})) {
    if (path === '') continue
    const found = installed.packages?.[path]
    if (found) {
      if (found.version !== locked.version || found.integrity !== locked.integrity) return `${path} changed`
    } else if (!locked.optional && !locked.devOptional && !locked.peer) return `${path} is missing`
  }
  return null
}

/**
 * @param {string} path
 * @returns {Lock | null}
 */
function readLock(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

/**
 * The headers that came with this Node, so that a native package can be compiled where their download is out of reach.
 * @param {string} execPath
 * @param {string} version such as `v20.19.0`
 * @returns {string | null} the folder that holds `include/node`
 */
export function nodeHeaders(execPath = process.execPath, version = process.version) {
  const prefix = dirname(dirname(execPath))
  const file = join(prefix, 'include', 'node', 'node_version.h')
  if (!existsSync(file)) return null
  const text = readFileSync(file, 'utf8')
  const part = (/** @type {string} */ name) =>
    text.match(new RegExp(`#define NODE_${name}_VERSION (\\d+)`))?.[1]
  const found = `v${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`
  return found === version ? prefix : null
}

/**
 * Runs npm, the one that started us where there is one.
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} options
 */
function npm(args, options) {
  const cli = process.env.npm_execpath
  if (cli && /\.[cm]?js$/.test(cli)) return spawnSync(process.execPath, [cli, ...args], options)
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' })
}

/**
 * Installs a folder's packages exactly as locked, unless they are there already.
 * @param {string} folder
 */
export function ensurePackages(folder = root) {
  const wanted = readLock(join(folder, 'package-lock.json'))
  if (!wanted) throw new Error(`There is no package-lock.json in ${folder}.`)
  const why = whyInstall(wanted, readLock(join(folder, 'node_modules', '.package-lock.json')))
  if (why === null) return
  console.log(`Installing packages (${why})…`)
  const headers = nodeHeaders()
  const env = { ...process.env }
  if (headers && !env.npm_config_nodedir) env.npm_config_nodedir = headers
  const result = npm(['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (result.error) throw new Error(`npm could not be started: ${result.error.message}`)
  if (result.status !== 0) throw new Error(`"npm ci" failed in ${folder}; its own message is above.`)
}
