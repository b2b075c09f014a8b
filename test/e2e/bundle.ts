import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { root } from '../../scripts/bootstrap.mjs'
import { doorAliases } from '../../scripts/doors.mjs'

/** A file of the project, and all it imports, as one script for a page. Writes nothing. */
export async function bundleOf(path: string): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'error',
    resolve: { alias: doorAliases() },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      rolldownOptions: { input: join(root, path) },
    },
  })
  const outputs: readonly Rolldown.RolldownOutput[] =
    'output' in built ? [built] : Array.isArray(built) ? built : []
  const chunks = outputs.flatMap(({ output }) =>
    output.flatMap((part) => (part.type === 'chunk' ? [part.code] : [])),
  )
  if (chunks.length !== 1) throw new Error(`${path} became ${chunks.length} chunks`)
  return chunks.join('')
}
