import { dirname, isAbsolute, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, minifySync, type Rolldown } from 'vite'
import { root } from '../../scripts/bootstrap.mjs'
import { doorAliases } from '../../scripts/doors.mjs'

export interface BundleOptions {
  /** The entry's text: what an app would write. Imports `tidemark` and its doors by name, other packages from node_modules. */
  entry: string
  /** Packages left out, such as a peer that the app has anyway. Their own sub-paths are left out too. */
  external?: readonly string[]
  /** Where packages are looked for. @default the project's root */
  folder?: string
}

export interface BundleSize {
  /** Minified. */
  bytes: number
  /** Minified and gzipped at level 9: what budgets speak of. */
  gzip: number
}

const id = 'virtual:entry'

const isExternal =
  (external: readonly string[]) =>
  (name: string): boolean =>
    external.some((known) => name === known || name.startsWith(`${known}/`))

export interface BundleFile {
  fileName: string
  code: string
  /** What is in it: the text of each module by its path, unused parts removed, not yet minified. */
  modules: ReadonlyMap<string, string>
}

/** The files a page would load, the entry first. Writes nothing. */
export async function bundle({
  entry,
  external = [],
  folder = root,
}: BundleOptions): Promise<readonly BundleFile[]> {
  const output = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: doorAliases() },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'entry',
        resolveId: (name) => (name === id ? join(folder, 'virtual-entry.ts') : null),
        load: (path) => (path === join(folder, 'virtual-entry.ts') ? entry : null),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: id,
        external: isExternal(external),
        // An app's exports: without it an entry that only exports would be empty.
        preserveEntrySignatures: 'strict',
      },
    },
  })
  const chunks = [output].flat().flatMap((result) => ('output' in result ? result.output : []))
  return chunks.flatMap((chunk) =>
    chunk.type === 'chunk' ? [{ fileName: chunk.fileName, code: chunk.code, modules: modulesOf(chunk) }] : [],
  )
}

const modulesOf = ({ modules }: Rolldown.OutputChunk): ReadonlyMap<string, string> =>
  new Map(Object.entries(modules).map(([path, { code }]) => [path, code ?? '']))

/** A module's folder in the source, or its package; `bundler` for what the bundler adds. */
function partOf(path: string): string {
  const [, inPackage] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
  return inPackage ?? (isAbsolute(path) ? relative(root, dirname(path)) || 'the entry' : 'bundler')
}

/**
 * Where a bundle's weight comes from, heaviest first: a line for each folder of the source and each package. Each is minified and
 * gzipped alone, so together they weigh more than the bundle.
 */
export async function partsOf(options: BundleOptions): Promise<string> {
  const parts = new Map<string, string>()
  for (const { modules } of await bundle(options)) {
    for (const [path, code] of modules) {
      const part = partOf(path)
      parts.set(part, (parts.get(part) ?? '') + minifySync(`${path}.js`, code).code)
    }
  }
  return [...parts]
    .map(([part, code]) => ({ part, gzip: gzipSync(code, { level: 9 }).byteLength }))
    .sort((a, b) => b.gzip - a.gzip)
    .map(({ part, gzip }) => `${gzip} ${part}`)
    .join('\n')
}

/** What `entry` costs a page that bundles it: every file, the lazy ones included. */
export async function measureBundle(options: BundleOptions): Promise<BundleSize> {
  let size: BundleSize = { bytes: 0, gzip: 0 }
  for (const { code } of await bundle(options)) {
    const { byteLength } = Buffer.from(code)
    size = { bytes: size.bytes + byteLength, gzip: size.gzip + gzipSync(code, { level: 9 }).byteLength }
  }
  return size
}
